// Package umbridge answers for models behind UM-Bridge servers (protocol 1.0), over HTTP and JSON.
package umbridge
