// Messages from the broker and answers of the REST service, made to break the readers: each ends in a result or a code.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { Requests } from '../../src/mqtt/requests.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { buildRequest, readResponse } from '../../src/protocol/operations/index.ts';
import type { Report } from '../../src/protocol/reports/index.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { Duplicates } from '../../src/reports/duplicates.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { createDeviceFilter } from '../../src/rest/filters.ts';
import { readDevicePage, readToken } from '../../src/rest/responses.ts';
import { ALL } from '../session.ts';
import { countCases } from './cases.ts';
import { assertUnpolluted, payloads, reports, reportTopics } from './hostile.ts';

const catalogue = createCatalogue();
const requestContext = { catalogue, ack: { raw: 'ack', decoded: 'ack-decoded', payload: {} } };
const topics = createTopics('');

describe('messages made to break the reader', function () {
  this.timeout(0);
  const cases = countCases('messages of the broker, answers of the service');
  after(() => cases.end());
  afterEach(assertUnpolluted);

  it('become a report each, or BAD_REPORT, for every subscriber', async () => {
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const dispatcher = new Reports(topics, catalogue, new NetworkState(), log);
    const got: (Report | ServiceError)[] = [];
    const route = compileCriteria(ALL, catalogue)!;
    const duplicates = new Duplicates(10_000);
    const listener = {
      report(report: Report) {
        duplicates.seen(report);
        got.push(report);
      },
      error: (error: ServiceError) => void got.push(error),
    };
    for (const decode of [true, false, true]) {
      dispatcher.add(route, decode, listener);
    }
    await cases.check(
      600,
      200_000,
      fc.property(reportTopics, fc.oneof(payloads, reports), fc.boolean(), (topic, payload, retained) => {
        const parsed = topics.parseReport(topic);
        if (parsed === undefined) {
          return;
        }
        got.length = 0;
        dispatcher.deliver(topic, Buffer.from(payload), retained);
        assert.equal(got.length, 3, warnings.at(-1));
        for (const one of got) {
          if (one instanceof ServiceError) {
            assert.equal(one.code, 'BAD_REPORT');
          } else {
            checkReport(one, parsed.gateway);
          }
        }
      }),
    );
    assert.deepEqual(warnings, []);
  });

  it('are a response, or an error with a code', async () => {
    const request = buildRequest('read', { gateway: 'c0141f68fc3d', identifier: '8810' }, requestContext);
    await cases.check(
      500,
      150_000,
      fc.property(payloads, fc.boolean(), (payload, decode) => {
        coded(() => readResponse(request, parseJson(payload), catalogue, decode));
      }),
    );
  });

  it('end a request that is in flight, or leave it be', async () => {
    await cases.check(
      400,
      60_000,
      fc.asyncProperty(payloads, fc.boolean(), async (payload, retained) => {
        const requests = new Requests({ maxInFlight: 2, maxQueue: 2, qos: 0 }, topics, {
          connected: true,
          broker: '',
          publish() {},
          ensureFilter: (_, settled) => settled(false),
          releaseFilter() {},
          isFilterActive: () => true,
          isFilterBlocked: () => false,
          refusalOf: () => undefined,
          readsSince: 0,
          heldMs: 0,
        });
        const request = buildRequest('read', { gateway: 'c0141f68fc3d', identifier: '8001' }, requestContext);
        const { signal } = new AbortController();
        const options = { timeout: 1_000, signal, trafficClass: 'request', awaitResponse: true } as const;
        const pending = requests.send(request, options).catch(() => {});
        const parsed = topics.parseResponse('mt/gateway/c0141f68fc3d/response/c0141f68fc3d/read/8001')!;
        requests.receive(parsed, Buffer.from(payload), retained);
        requests.close();
        await pending;
      }),
    );
  });

  it('are a page of devices that can be filtered, a token, or neither', async () => {
    const passes = createDeviceFilter({
      labels: ['a'],
      connected: true,
      model: 'b',
      firmware: '<3.4.0',
      search: 'c',
    });
    await cases.check(
      400,
      150_000,
      fc.property(payloads, (payload) => {
        const page = readDevicePage(parseJson(payload));
        const list = readDevicePage(parseJson(`{"items":[${payload}]}`));
        for (const device of [...(page?.devices ?? []), ...(list?.devices ?? [])]) {
          passes(device);
        }
        const token = readToken(payload);
        assert.ok(token === undefined || /^[\x21-\x7e]+$/.test(token));
      }),
    );
  });
});

function checkReport(report: Report, gateway: string): void {
  assert.equal(report.gateway, gateway);
  assert.equal(Object.getPrototypeOf(report), Object.prototype);
  assert.ok(typeof report.kind === 'string' && typeof report.time === 'string');
}

/** Runs, and lets only errors with a code through. */
function coded(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ServiceError, String((error as Error)?.stack));
  }
}
