// Runs one file of fault, fuzz or model tests for `run.ts`, and gives it the rows of the table.
import Mocha from 'mocha';
import { isLong, recorded } from './table.ts';

const [file = ''] = process.argv.slice(2);
const mocha = new Mocha({ timeout: isLong ? 0 : 60_000 });
mocha.addFile(file);
mocha.run((failures) => {
  process.send?.(recorded(), () => process.exit(failures > 0 ? 1 : 0));
});
