// What a flow can put into `msg`, given to a session with a real broker and REST service: each call ends, or fails with a code.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Service, startService } from '../../simulator/src/service.ts';
import { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import type { RestSettings } from '../../src/settings.ts';
import { mqttSettings, reached } from '../session.ts';
import { countCases } from './cases.ts';
import { assertUnpolluted, madeOf, messages } from './hostile.ts';

const REQUEST = { gateway: '', device: '', identifier: '8001', value: '1234', time: 'now' };
/** Some values are a request for somebody who does not exist. */
const PATIENCE_MS = 50;

type Call = (input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;

describe('a session with calls made to break it', function () {
  this.timeout(0);
  const cases = countCases('calls of a session, sent to a real broker and service', Number.POSITIVE_INFINITY);
  let box: Service;
  let session: Session;

  before(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 3, historyLimit: 10 });
    const rest: RestSettings = {
      authUrl: box.urls.auth,
      baseUrl: box.urls.base,
      ...box.credentials,
      authHeader: 'Authorization',
      pageTokenParam: 'NextToken',
      attachPath: '',
      timeout: 2_000,
      retries: 0,
    };
    session = new Session({ rest, mqtt: mqttSettings(box.urls.mqtt) }, SILENT);
    session.attach();
    await reached(session, 'connected');
  });

  after(async () => {
    await session.close();
    await box.close();
    cases.end();
  });

  afterEach(assertUnpolluted);

  const calls: Record<string, { usual?: object; fields: string[]; call: Call }> = {
    read: {
      fields: ['gateway', 'device', 'identifier', 'form', 'priority', 'extenderId', 'accessType', 'key'],
      call: (input, signal) => session.request('read', input, { signal, timeout: PATIENCE_MS }),
    },
    write: {
      fields: ['gateway', 'device', 'identifier', 'form', 'value', 'ext', 'priority', 'publicKey'],
      call: (input, signal) => session.request('write', input, { signal, timeout: PATIENCE_MS }),
    },
    acknowledge: {
      fields: ['gateway', 'device', 'identifier', 'form', 'time', 'kind', 'ack', 'value'],
      call: (input, signal) => session.acknowledge(input, { signal, wait: true, timeout: PATIENCE_MS }),
    },
    listPages: {
      fields: ['labels', 'connected', 'model', 'firmware', 'search', 'query'],
      async call(input, signal) {
        for await (const page of session.rest.listPages({ ...input, pageSize: 10, limit: 0, signal })) {
          assert.ok(page.devices.length <= 3);
        }
      },
    },
    rename: {
      usual: { device: 'bmac-c0141f68fc3d', name: 'a' },
      fields: ['device', 'name'],
      call: ({ device, name }, signal) => session.rest.rename(device, name, signal),
    },
    label: {
      usual: { device: 'bmac-c0141f68fc3d', label: 'a' },
      fields: ['device', 'label'],
      call: async ({ device, label }, signal) => {
        await session.rest.createLabel(label, signal);
        await session.rest.removeLabel(device, label, signal);
      },
    },
    call: {
      usual: { method: 'POST', path: '/api/v1/labels', body: { label: 'a' } },
      fields: ['method', 'path', 'query', 'body'],
      call: (input, signal) => session.rest.call(input, signal),
    },
  };

  for (const [name, { usual, fields, call }] of Object.entries(calls)) {
    it(`ends every ${name} or fails with a code`, async () => {
      const { signal } = new AbortController();
      const input = messages(
        fields,
        usual ?? { ...REQUEST, gateway: box.demo.gateway, device: box.demo.device },
      );
      await cases.check(
        50,
        3_000,
        fc.asyncProperty(input, async (changes) => {
          await call(madeOf(changes), signal).catch((error: unknown) => {
            assert.ok(error instanceof ServiceError, String((error as Error)?.stack));
          });
        }),
      );
      assert.equal(session.state.mqtt.name, 'connected');
    });
  }
});
