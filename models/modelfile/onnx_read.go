package modelfile

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"newtop/internal/safetensors"

	"google.golang.org/protobuf/encoding/protowire"
)

// readONNX reads the metadata of an ONNX file, in which everything is; the graph is for others.
func readONNX(text []byte, name string) (*Model, error) {
	metadata := make(map[string]string)
	for at := 0; at < len(text); {
		field, kind, size := protowire.ConsumeField(text[at:])
		if size < 0 {
			return nil, &FormatError{File: name, Position: fmt.Sprintf("offset %d", at), Found: "no protobuf field",
				Expected: "a safetensors or ONNX file"}
		}
		if field == 14 && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(text[at:])
			entry, _ := protowire.ConsumeBytes(text[at+tag:])
			key, value, ok := keyValue(entry)
			if _, twice := metadata[key]; !ok || twice {
				return nil, &FormatError{File: name, Position: fmt.Sprintf("offset %d", at),
					Found: "metadata without a name of its own", Expected: "a key and a value"}
			}
			if !utf8.ValidString(key) || !utf8.ValidString(value) {
				return nil, &FormatError{File: name, Position: fmt.Sprintf("offset %d", at),
					Found: "metadata that is no text", Expected: "UTF-8"}
			}
			metadata[key] = value
		}
		at += size
	}
	encoded, ok := metadata[keyWeights]
	if _, ours := metadata[keyVersion]; !ok || !ours {
		return nil, &FormatError{File: name, Found: "no metadata of newtop's",
			Expected: "a model that newtop saved: other ONNX files are for other runtimes"}
	}
	delete(metadata, keyWeights)
	position := fmt.Sprintf("metadata %q", keyWeights)
	exact, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, &FormatError{File: name, Position: position, Found: err.Error(), Expected: "base64"}
	}
	file, err := safetensors.Decode(exact, name+": "+position)
	if err != nil {
		return nil, err
	}
	file.Metadata = metadata
	return fromTensors(file, name)
}

// keyValue reads an entry of the metadata.
func keyValue(entry []byte) (key, value string, ok bool) {
	for len(entry) > 0 {
		field, kind, size := protowire.ConsumeField(entry)
		if size < 0 {
			return "", "", false
		}
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(entry)
			text, _ := protowire.ConsumeBytes(entry[tag:])
			switch field {
			case 1:
				key = string(text)
			case 2:
				value = string(text)
			}
		}
		entry = entry[size:]
	}
	return key, value, key != ""
}
