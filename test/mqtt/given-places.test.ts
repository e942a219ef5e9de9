// Where reports have taken all subscriptions that a broker allows, one topic filter of theirs gives way to responses.
import assert from 'node:assert/strict';
import { GivenPlaces } from '../../src/mqtt/given-places.ts';

describe('the place of a filter of reports', () => {
  const placesOf = () => new GivenPlaces((filter) => filter.startsWith('report/'));
  const REPORTS = ['report/1', 'report/2', 'report/3'];

  for (const [title, beyond, granted, given] of [
    ['goes to responses: that of the last one', ['response/all'], REPORTS, ['report/3']],
    ['goes to responses beside which others wait', ['report/4', 'response/all'], REPORTS, ['report/3']],
    ['does not go to other reports', ['report/4'], REPORTS, []],
    ['stays where it is the only one', ['response/all'], ['report/1'], []],
    ['stays where responses have a place already', ['response/2'], [...REPORTS, 'response/1'], []],
    ['does not go where none is granted', ['response/all'], [], []],
  ] as const) {
    it(title, () => {
      assert.deepEqual(placesOf().take(beyond, granted), given);
    });
  }

  it('goes back when the broker refuses the responses, once', () => {
    const places = placesOf();
    places.take(['response/all'], REPORTS);
    assert.equal(places.refused('report/1'), undefined);
    assert.equal(places.refused('response/all'), 'report/3');
    assert.equal(places.refused('response/all'), undefined);
  });

  it('goes back when nobody waits for responses any more, once', () => {
    const places = placesOf();
    assert.equal(places.left('response/all'), undefined);
    places.take(['response/all'], REPORTS);
    assert.equal(places.left('report/1'), undefined);
    assert.equal(places.left('response/all', ['report/4']), 'report/3');
    assert.equal(places.left('response/all'), undefined);
  });

  it('goes on to other responses that have none', () => {
    const places = placesOf();
    places.take(['response/1'], REPORTS);
    assert.equal(places.left('response/1', ['report/4', 'response/2']), undefined);
    // Nothing more is given: responses have a place.
    assert.deepEqual(places.take(['response/3'], ['report/1', 'report/2', 'response/2']), []);
    assert.equal(places.left('response/2'), 'report/3');
  });

  it('is given twice in vain, and not a third time before the next connection', () => {
    const places = placesOf();
    for (const filter of ['response/all', 'response/1']) {
      assert.deepEqual(places.take([filter], REPORTS), ['report/3']);
      assert.equal(places.refused(filter), 'report/3');
    }
    assert.deepEqual(places.take(['response/2'], REPORTS), []);
    places.connected();
    assert.deepEqual(places.take(['response/2'], REPORTS), ['report/3']);
  });

  it('may be given again and again where the broker takes what it was given for', () => {
    const places = placesOf();
    for (let i = 0; i < 5; i++) {
      assert.deepEqual(places.take(['response/all'], REPORTS), ['report/3']);
      assert.equal(places.left('response/all'), 'report/3');
      assert.equal(places.refused('response/1'), undefined);
    }
  });

  it('does not go back over another connection', () => {
    const places = placesOf();
    places.take(['response/all'], REPORTS);
    places.connected();
    assert.equal(places.left('response/all'), undefined);
  });
});
