// A request as it waits or is under way, for tests of what does one part of that.
import type { GatewayRequests, Pending } from '../../src/mqtt/gateway-requests.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type BuiltRequest, buildRequest } from '../../src/protocol/operations/index.ts';
import { G } from './scripted.ts';

export const TIMEOUT_MS = 10_000;

export const REQUEST: BuiltRequest = buildRequest(
  'apiversion',
  { gateway: G },
  { catalogue: createCatalogue([]), ack: { raw: 'ack', decoded: 'ack', payload: {} } },
);

export const createPending = (gateway: GatewayRequests, changes: Partial<Pending> = {}): Pending => ({
  id: '',
  slot: 0,
  request: REQUEST,
  gateway,
  trafficClass: 'request',
  priority: 2,
  timeout: TIMEOUT_MS,
  group: new Set(),
  sent: undefined,
  delivered: undefined,
  awaitResponse: true,
  isRemoved: false,
  isCounted: false,
  isUnacknowledged: false,
  place: undefined,
  isLarge: false,
  index: -1,
  waitingSince: performance.now(),
  deadline: Number.POSITIVE_INFINITY,
  heldBefore: 0,
  resolve() {},
  reject() {},
  ...changes,
});
