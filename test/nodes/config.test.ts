// Saved nodes of every age become complete configs.
import assert from 'node:assert/strict';
import * as deviceWatch from '../../nodes/device-watch/config.ts';
import * as gwRead from '../../nodes/gw-read/config.ts';
import * as lastValue from '../../nodes/last-value/config.ts';
import * as rename from '../../nodes/rename/config.ts';
import * as reportIn from '../../nodes/report-in/config.ts';
import * as service from '../../nodes/service/config.ts';
import * as serviceRequest from '../../nodes/service-request/config.ts';
import { configOf, NODE_TYPES } from '../node-types.ts';

/** The bracketed names of the contract. */
const MESSAGE_FIELDS: Record<string, Record<string, string>> = {
  'mt-gw-read': {
    gateway: 'gateway',
    device: 'device',
    identifier: 'identifier',
    priority: 'priority',
    extenderId: 'extenderId',
    accessType: 'accessType',
    publicKey: 'publicKey',
  },
  'mt-gw-write': {
    gateway: 'gateway',
    device: 'device',
    identifier: 'identifier',
    value: 'payload',
    ext: 'ext',
  },
  'mt-timestamped-ack': {
    gateway: 'gateway',
    device: 'device',
    identifier: 'identifier',
    form: 'form',
    time: 'time',
  },
  'mt-device-list': {
    labels: 'labels',
    connected: 'connected',
    model: 'model',
    firmware: 'firmware',
    search: 'search',
  },
  'mt-rename': { device: 'device', name: 'payload' },
  'mt-label': { label: 'payload', device: 'device' },
  'mt-service-request': { path: 'path', query: 'query', body: 'payload' },
};

describe('a saved node', () => {
  for (const type of NODE_TYPES) {
    const { DEFAULTS, upgrade } = configOf(type);
    describe(type, () => {
      it('gets every default when nothing was saved', () => {
        for (const old of [undefined, null, {}, 'garbage', 7]) {
          assert.deepEqual(upgrade(old), DEFAULTS);
        }
      });

      it('stays as it is when it is saved again', () => {
        assert.deepEqual(upgrade(DEFAULTS), DEFAULTS);
        assert.deepEqual(upgrade(JSON.parse(JSON.stringify(upgrade({})))), DEFAULTS);
      });

      it('keeps environment variables in every property that can hold a text', () => {
        const saved = Object.fromEntries(
          Object.entries(DEFAULTS)
            .filter(([key]) => key !== 'version' && !key.endsWith('Type'))
            .map(([key, value]) => [key, Array.isArray(value) ? ['${NAME}'] : '${NAME}']),
        );
        const types = Object.fromEntries(
          Object.keys(DEFAULTS)
            .filter((key) => key.endsWith('Type'))
            .map((key) => [key, 'str']),
        );
        const upgraded = upgrade({ ...saved, ...types });
        for (const [key, value] of Object.entries(saved)) {
          assert.deepEqual(upgraded[key], value, key);
        }
      });

      it('does not take over what belongs to another node', () => {
        assert.equal('surprise' in upgrade({ surprise: 1, __proto__: { polluted: true } }), false);
      });

      for (const [field, property] of Object.entries(MESSAGE_FIELDS[type] ?? {})) {
        it(`takes ${field} from msg.${property} when the flow says nothing about it`, () => {
          const config = upgrade({});
          assert.deepEqual([config[field], config[`${field}Type`]], [property, 'msg']);
        });
      }
    });
  }

  it('reads numbers that were saved as text, and replaces what is no number', () => {
    const saved = {
      keepalive: '15',
      maxQueue: '',
      httpRetries: 'many',
      protocolVersion: '5',
      reportQos: '0',
    };
    const config = service.upgrade(saved);
    assert.equal(config.keepalive, 15);
    assert.equal(config.maxQueue, 1_000);
    assert.equal(config.httpRetries, 3);
    assert.equal(config.protocolVersion, 5);
    assert.equal(config.reportQos, 0);
  });

  it('reads the catalogue entries of a service as text or as a list', () => {
    const entries = [{ id: '8f00', name: 'my-value', type: 'u8' }];
    assert.deepEqual(JSON.parse(service.upgrade({ identifiers: entries }).identifiers), entries);
    assert.deepEqual(
      JSON.parse(service.upgrade({ identifiers: JSON.stringify(entries) }).identifiers),
      entries,
    );
  });

  it('falls back to the defaults where an empty text would mean nothing', () => {
    const config = service.upgrade({ authHeader: ' ', ackOperation: '', identifiers: '', ackTemplate: '' });
    assert.equal(config.authHeader, 'Authorization');
    assert.equal(config.ackOperation, 'ack');
    assert.equal(config.identifiers, '[]');
    assert.equal(config.ackTemplate, '{"time":"{{time}}"}');
  });

  it('reads a filter that is one text, as an environment variable gives it', () => {
    const config = reportIn.upgrade({ devices: 'c0141f68fc3d, c0141f68fc3e', labels: ['a, b', ' '] });
    assert.deepEqual(config.devices, ['c0141f68fc3d', 'c0141f68fc3e']);
    assert.deepEqual(config.labels, ['a, b']);
  });

  it('keeps a label as it was chosen, with blanks at its ends, and trims those of a text', () => {
    for (const { upgrade } of [reportIn, lastValue, deviceWatch]) {
      assert.deepEqual(upgrade({ labels: [' a, b ', 'c ', ' '] }).labels, [' a, b ', 'c ']);
      assert.deepEqual(upgrade({ labels: ' a, c \n d' }).labels, ['a', 'c', 'd']);
    }
  });

  it('trims addresses and identifiers of a list that was written by hand', () => {
    const { gateways, identifiers } = reportIn.upgrade({
      gateways: [' aa:bb:cc:dd:ee:ff '],
      identifiers: ['8800 '],
    });
    assert.deepEqual([gateways, identifiers], [['aa:bb:cc:dd:ee:ff'], ['8800']]);
    assert.deepEqual(deviceWatch.upgrade({ devices: [' aabbccddeeff'] }).devices, ['aabbccddeeff']);
  });

  it('replaces a choice that does not exist', () => {
    assert.equal(reportIn.upgrade({ form: 'cooked', output: 'value' }).form, 'both');
    assert.equal(gwRead.upgrade({ operation: 'format-disk' }).operation, 'read');
    assert.equal(serviceRequest.upgrade({ method: 'TRACE' }).method, 'GET');
  });

  it('reads a typed field without a type from the message', () => {
    const config = gwRead.upgrade({ gateway: 'payload.gateway', device: 'aa', deviceType: 'spell' });
    assert.deepEqual([config.gateway, config.gatewayType], ['payload.gateway', 'msg']);
    assert.deepEqual([config.device, config.deviceType], ['aa', 'msg']);
  });

  it('keeps a caption apart from the new name of a device', () => {
    assert.deepEqual(
      rename.upgrade({ name: 'Rename it' }),
      rename.upgrade({ title: 'Rename it', name: 'payload', nameType: 'msg' }),
    );
    assert.equal(rename.upgrade({ name: 'Hall', nameType: 'str' }).name, 'Hall');
  });
});
