// The list of behaviours as tests of one real broker, which runs for all of them.
import assert from 'node:assert/strict';
import { nothingMayBeSkipped } from '../requirements.ts';
import { BEHAVIOURS, tryBehaviour } from './behaviours.ts';
import { type RealBroker, SUBJECTS, type SubjectName } from './subjects.ts';

/** Makes the tests; none where the broker is not installed, which in CI is a failure. */
export function describeBroker(name: SubjectName): void {
  const subject = SUBJECTS[name];
  describe(`at a real ${name}`, () => {
    if (!subject.isThere()) {
      it(`is not installed${nothingMayBeSkipped ? '' : ' (skipped)'}`, function () {
        assert.ok(!nothingMayBeSkipped, `${name} is not installed`);
        this.skip();
      });
      return;
    }
    let broker: RealBroker;
    before(async function () {
      // RabbitMQ takes ten seconds on an idle machine.
      this.timeout(120_000);
      broker = await subject.start();
    });
    after(() => broker?.stop());

    for (const behaviour of BEHAVIOURS) {
      const lack = behaviour.lacks?.[name];
      if (behaviour.needs && !subject.offers.includes(behaviour.needs)) {
        continue;
      }
      it(lack === undefined ? behaviour.name : `does not: ${behaviour.name} (${lack})`, async function () {
        this.timeout(120_000);
        const outcome = await tryBehaviour(behaviour, broker, name, subject.profile);
        if (lack === undefined) {
          assert.equal(outcome?.works, true, String((outcome?.error as Error | undefined)?.stack));
        } else {
          assert.equal(outcome?.works, false, 'it does by now: take the row out of "lacks"');
        }
      });
    }
  });
}
