// Runs every ONNX file of a directory in onnxruntime's WebAssembly build and compares its outputs with newtop's own.
// The directory holds cases.json, which models/modelfile writes when NEWTOP_ONNX_DIR names it:
// [{file, type, rows, columns, outputs, raw, want}], raw and want row by row.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';

const tolerance = 1e-5; // of 1, or of the value where that is larger
const dir = process.argv[2];
ort.env.wasm.numThreads = 1;

let failed = 0;
for (const c of JSON.parse(readFileSync(join(dir, 'cases.json')))) {
  const session = await ort.InferenceSession.create(readFileSync(join(dir, c.file)));
  const values = c.type === 'float64' ? Float64Array.from(c.raw) : Float32Array.from(c.raw);
  const { output } = await session.run({ input: new ort.Tensor(c.type, values, [c.rows, c.columns]) });
  let worst = output.dims[0] === c.rows && output.dims[1] === c.outputs ? 0 : Infinity;
  c.want.forEach((want, i) => {
    const difference = Math.abs(output.data[i] - want) / Math.max(1, Math.abs(want));
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
  });
  if (!(worst <= tolerance)) failed++;
  console.log(`${worst <= tolerance ? 'ok  ' : 'FAIL'} ${c.file}: largest difference ${worst.toExponential(1)}`);
}
process.exit(failed === 0 ? 0 : 1);
