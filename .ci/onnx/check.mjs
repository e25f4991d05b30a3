// Runs every ONNX file of a directory in onnxruntime's WebAssembly build and compares its outputs with newtop's own.
// The directory holds cases.json and letter.json, which tests of models/modelfile and trainer write when NEWTOP_ONNX_DIR names
// it: [{file, type, rows, columns, outputs, raw, want}], raw and want row by row; or in want's place labels, and how many of
// the rows newtop gets wrong.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';

const tolerance = 1e-5; // of 1, or of the value where that is larger
const dir = process.argv[2];
ort.env.wasm.numThreads = 1;

let failed = 0;
function tell(good, text) {
  if (!good) failed++;
  console.log(`${good ? 'ok  ' : 'FAIL'} ${text}`);
}

const lists = ['cases.json', 'letter.json'].map((name) => join(dir, name)).filter((path) => existsSync(path));
for (const c of lists.flatMap((path) => JSON.parse(readFileSync(path)))) {
  const session = await ort.InferenceSession.create(readFileSync(join(dir, c.file)));
  const values = c.type === 'float64' ? Float64Array.from(c.raw) : Float32Array.from(c.raw);
  const { output } = await session.run({ input: new ort.Tensor(c.type, values, [c.rows, c.columns]) });
  const fits = output.dims[0] === c.rows && output.dims[1] === c.outputs;
  if (c.labels) {
    const row = (i) => Array.from(output.data.slice(i * c.outputs, (i + 1) * c.outputs));
    const wrong = c.labels.filter((label, i) => row(i).indexOf(Math.max(...row(i))) !== label).length;
    tell(fits && wrong === c.wrong, `${c.file}: ${wrong} of ${c.rows} rows are wrong, ${c.wrong} by newtop`);
    continue;
  }
  let worst = fits ? 0 : Infinity;
  c.want.forEach((want, i) => {
    const difference = Math.abs(output.data[i] - want) / Math.max(1, Math.abs(want));
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
  });
  tell(worst <= tolerance, `${c.file}: largest difference ${worst.toExponential(1)}`);
}
process.exit(failed === 0 ? 0 : 1);
