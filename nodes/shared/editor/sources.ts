// Where the pickers' choices come from: the runtime's lists of devices and of what reports have shown, and the catalogue.
import { type Catalogue, createCatalogue } from '../../../src/protocol/catalogue.ts';
import {
  type Access,
  askedAs,
  IDENTIFIERS,
  type Identifier,
  isCalled,
} from '../../../src/protocol/identifiers.ts';
import { parseMac } from '../../../src/protocol/mac.ts';
import { findWords } from '../../../src/protocol/search-words.ts';
import { hasEnv } from '../defaults.ts';
import { field, numberText, sidebarText, text, whyDisabled } from './panel.ts';
import type { Found } from './picker.ts';
import { type Choice, linkText } from './picker-list.ts';
import { type RequestFailure, requestService } from './service-request.ts';

/** What is asked of the runtime, so that it can be put in order here; no more than it answers with. */
const MAX_FETCHED = 1_000;
const MAX_CHOICES = 50;

interface ListedDevice {
  id: string;
  mac?: string;
  name?: string;
  labels?: string[];
  connected?: boolean;
  model?: string;
}

interface Heard {
  id: string;
  name?: string;
  count?: number;
  /** Of a property. */
  value?: string | number | boolean;
  /** Of a device. */
  rssi?: number;
  battery?: number;
}

/** The id of the service that the open panel has chosen; empty when none. */
export function chosenService(): string {
  const id = String(field('service').val() ?? '');
  return id === '_ADD_' ? '' : (serviceOfTemplate(id) ?? id);
}

/** A property of the subflow that is being edited may name the service: then its default value does. */
function serviceOfTemplate(id: string): string | undefined {
  const name = /^\$\{(.+)\}$/.exec(id)?.[1];
  const template = name === undefined ? undefined : RED.nodes.subflow(RED.workspaces.active());
  const value = template?.env?.find((property) => property.name === name)?.value;
  return typeof value === 'string' && RED.nodes.node(value) ? value : undefined;
}

/**
 * Why the chosen service does not run, or what is to be done: one inside a subflow runs in its instances only.
 * @param deployFirst what is said of one that only needs a deploy
 */
export function explainNotRunning(deployFirst: string): string {
  const service = chosenService();
  const template = RED.nodes.subflow(String(RED.nodes.node(service)?.z ?? ''));
  return whyDisabled(service) ?? (template ? text('picker.deployInstance') : deployFirst);
}

/** Why a query to the runtime failed, in words. */
function explainFailure({ reason, message }: RequestFailure): string {
  if (message !== '') {
    return text('picker.because', { reason: message });
  }
  return reason === 'notDeployed' ? explainNotRunning(text('picker.deployFirst')) : text(`picker.${reason}`);
}

/** Asks the runtime about the chosen service. */
async function fetchRows<T>(path: string, query: Record<string, string | number>): Promise<T[] | string> {
  const service = chosenService();
  if (service === '') {
    return text('picker.noService');
  }
  if (hasEnv(service)) {
    return text('picker.envService');
  }
  try {
    const rows = await requestService<unknown>(service, path, { query: { limit: MAX_FETCHED, ...query } });
    if (Array.isArray(rows)) {
      return rows;
    }
    return text(
      (rows as { loading?: unknown } | null)?.loading === true ? 'picker.loading' : 'picker.failed',
    );
  } catch (failure) {
    return explainFailure(failure as RequestFailure);
  }
}

/** The text of a fixed field of the open panel, to narrow another one's choices; empty when it is not fixed. */
function fixed(name: string): string {
  const value = String(field(name).val() ?? '').trim();
  return field(`${name}Type`).val() === 'str' && !hasEnv(value) ? value : '';
}

/** The fixed ones of some fields, to narrow a query to the runtime. */
function narrowed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, fixed(name)]).filter(([, value]) => value !== ''));
}

function fromDevice(device: ListedDevice, useId: boolean): Choice {
  const value = useId ? device.id : (device.mac ?? device.id);
  const detail = [value, device.model].filter(Boolean).join(' · ');
  return {
    value,
    title: device.name || value,
    detail,
    connected: device.connected ?? false,
    tags: device.labels ?? [],
  };
}

function fromHeard({ id, name, count, rssi, battery }: Heard): Choice {
  const isNamed = name !== undefined && name !== '' && name !== id;
  const detail = [
    isNamed && id,
    rssi !== undefined && text('picker.signal', { rssi }),
    battery !== undefined && text('picker.battery', { level: battery }),
    count !== undefined && text('picker.heard', { count }),
  ];
  return { value: id, title: isNamed ? name : id, detail: detail.filter(Boolean).join(' · ') };
}

/** Whether the runtime is still reading the list, so that it has to be asked again. */
const isLoading = (list: unknown): boolean => list === text('picker.loading');

/** Lists one behind the other, each by name; why one of them failed is shown only when the others are empty too. */
function inOrder(...lists: readonly (Choice[] | string)[]): Found {
  const choices = new Map<string, Choice>();
  for (const list of lists) {
    for (const choice of typeof list === 'string' ? [] : list.sort(byTitle)) {
      choices.has(choice.value) || choices.set(choice.value, choice);
    }
  }
  const failure = lists.find((list) => typeof list === 'string') as string | undefined;
  const more = choices.size - MAX_CHOICES;
  const note = choices.size === 0 ? failure : more > 0 ? text('picker.more', { count: more }) : undefined;
  return {
    choices: [...choices.values()].slice(0, MAX_CHOICES),
    ...(note !== undefined && { note }),
    isLoading: lists.some(isLoading),
  };
}

/** Devices of the device list, by REST id or by MAC; one without a MAC has no gateway to be asked. */
const listed = async (q: string, useId: boolean): Promise<Choice[] | string> => {
  const rows = await fetchRows<ListedDevice>('devices', { q });
  const fits = ({ mac }: ListedDevice) => useId || mac !== undefined;
  return typeof rows === 'string' ? rows : rows.filter(fits).map((device) => fromDevice(device, useId));
};

const heard = async (
  what: string,
  q: string,
  at: Record<string, string> = {},
): Promise<Choice[] | string> => {
  const rows = await fetchRows<Heard>('seen', { what, q, ...at });
  return typeof rows === 'string' ? rows : rows.map(fromHeard);
};

/** Devices of the device list, by their REST id. */
export const searchListed = async (q: string): Promise<Found> => inOrder(await listed(q, true));

/**
 * Gateways: those that were heard, as the device list has them, then the others of the list. A list may hold what is
 * below gateways, too: what was heard only through another one is no gateway.
 */
export async function searchGateways(q: string): Promise<Found> {
  const [rows, reported, below] = await Promise.all([
    listed(q, false),
    heard('gateways', ''),
    heard('devices', ''),
  ]);
  if (typeof reported === 'string') {
    return inOrder(rows, reported);
  }
  const known = new Map((typeof rows === 'string' ? [] : rows).map((row) => [row.value, row]));
  const fits = findWords(q);
  const first = reported.filter((row) => known.has(row.value) || isFound(row, fits));
  const devices = new Set((typeof below === 'string' ? [] : below).map(({ value }) => value));
  const others = typeof rows === 'string' ? [] : rows.filter(({ value }) => !devices.has(value));
  const isUnheard = reported.length < MAX_FETCHED;
  return inOrder(
    first.map((row) => known.get(row.value) ?? row),
    typeof rows === 'string' ? rows : others.map((row) => ({ ...row, isUnheard })),
  );
}

/** Devices that were heard, of the chosen gateway when it is fixed. The device list has gateways only. */
export const searchHeardDevices = async (q: string): Promise<Found> =>
  inOrder(await heard('devices', q, narrowed(['gateway'])));

/** Labels of the device list. */
export const searchLabels = (q: string): Promise<Found> => foundLabels({ q });

/** Those that a gateway carries. */
export const searchGatewayLabels = (q: string): Promise<Found> => foundLabels({ q, of: 'gateways' });

async function foundLabels(query: Record<string, string>): Promise<Found> {
  const labels = await fetchRows<string>('labels', query);
  return inOrder(
    typeof labels === 'string' ? labels : labels.map((label) => ({ value: label, title: label })),
  );
}

/** The catalogue with the entries that the chosen service adds; without them when they cannot be read. */
export function currentCatalogue(id = chosenService()): Catalogue {
  const service = RED.nodes.node(id);
  try {
    return createCatalogue(service?.identifiers || '[]');
  } catch {
    return createCatalogue('[]');
  }
}

/**
 * Identifiers that can be used in one of these ways, or in any: those that were heard first, then the catalogue, both
 * by name, those without a name last. What the catalogue does not know is offered when it was heard, unless it is to be
 * written.
 */
export async function searchIdentifiers(q: string, access: readonly Access[] = []): Promise<Found> {
  const catalogue = currentCatalogue();
  const reported = await fetchRows<Heard>('seen', {
    what: 'identifiers',
    ...narrowed(['gateway', 'device']),
  });
  const usable = (row: Identifier | string) =>
    typeof row === 'string'
      ? !access.includes('write')
      : access.length === 0 || row.access.some((one) => access.includes(one));
  const isRequest = access.length > 0 && !access.includes('report');
  const choices = new Map<string, Choice>();
  const add = (row: Identifier | string, more: Partial<Choice>) => {
    const choice = { ...fromIdentifier(row, isRequest), ...more };
    if (usable(row) && !choices.has(choice.value)) {
      choices.set(choice.value, choice);
    }
  };
  for (const { id, value } of typeof reported === 'string' ? [] : reported) {
    const row = catalogue.find(id) ?? id;
    add(row, { tags: [text('picker.reported')], last: shownValue(value, row) });
  }
  const heardRows = [...choices.values()].sort(namedFirst);
  for (const row of catalogue.rows) {
    add(row, {});
  }
  const others = [...choices.values()].slice(heardRows.length).sort(namedFirst);
  const fits = findWords(q);
  return {
    choices: [...heardRows, ...others].filter((choice) => isFound(choice, fits)),
    // A hex id asks for the raw form, the name beside it for the decoded one.
    isComplete: catalogue.find(q.trim().toLowerCase())?.id === q.trim().toLowerCase(),
  };
}

const isFound = ({ title, detail = '' }: Choice, fits: (text: string) => boolean): boolean =>
  fits(`${title} ${detail}`.toLowerCase());

const byTitle = (one: Choice, other: Choice): number => one.title.localeCompare(other.title);

const isNameless = ({ title }: Choice): boolean => /^[0-9a-f]{4}$/.test(title);

/** A bare hex id tells a reader less than any name. */
const namedFirst = (one: Choice, other: Choice): number =>
  Number(isNameless(one)) - Number(isNameless(other)) || byTitle(one, other);

/** What is said at a property that the catalogue does not have; empty otherwise. */
export const remarkIdentifier = (value: string): string =>
  currentCatalogue().find(value) ? '' : text('identifier.notListed');

/** What a property means, in words; empty for one that only the service knows. */
export function meaningOf(row: Identifier): string {
  const known = IDENTIFIERS.find(({ id, name }) => (id === '' ? name === row.name : id === row.id));
  return known ? text(`meaning.${known.name || 'update'}`) : '';
}

/** @param isRequest a gateway is asked for it */
function fromIdentifier(row: Identifier | string, isRequest: boolean): Choice {
  if (typeof row === 'string') {
    return { value: row, title: row, detail: text('identifier.notListed') };
  }
  const { id, name, unit = '' } = row;
  const title = name || id;
  const detail = [meaningOf(row), unit, id].filter((part) => part && part !== title);
  return { value: isRequest ? askedAs(row) : title, title, detail: detail.join(' · ') };
}

/** The last value that was heard; a text is raw, so it has no unit. */
function shownValue(value: Heard['value'], row: Identifier | string): string {
  const unit = typeof value === 'number' && typeof row === 'object' ? (row.unit ?? '') : '';
  const shown = typeof value === 'number' ? numberText(value) : value;
  return value === undefined ? '' : `${shown} ${unit}`.trim();
}

async function listedDevice(value: string): Promise<ListedDevice | undefined> {
  const mac = parseMac(value);
  const rows = hasEnv(value) ? [] : await fetchRows<ListedDevice>('devices', { q: mac ?? value });
  return typeof rows === 'string'
    ? undefined
    : rows.find((row) => (mac !== undefined && row.mac === mac) || row.id === value);
}

/** The friendly name of a MAC address or REST id; empty when the device list does not have it. */
export const nameOfDevice = async (value: string): Promise<string> => (await listedDevice(value))?.name ?? '';

/** The name of a MAC address or REST id, whether it is connected, and how it was heard; empty when nothing is known. */
export async function describeDevice(value: string): Promise<string> {
  const [device, heardWords] = await Promise.all([listedDevice(value), describeHeard(value)]);
  const isSilent = heardWords === '' && (await isUnheard(value));
  const state = device ? linkText(device.connected, isSilent) : isSilent && sidebarText('never');
  return [device?.name, state, heardWords].filter(Boolean).join(' · ');
}

/** Whether reports have shown nothing of a MAC address, as far as that is known. */
async function isUnheard(value: string): Promise<boolean> {
  const device = parseMac(value);
  if (device === undefined) {
    return false;
  }
  const rows = await Promise.all([
    fetchRows('seen', { what: 'gateways', q: device }),
    fetchRows('seen', { what: 'devices', device }),
  ]);
  return rows.every((found) => found.length === 0);
}

/** Its last signal and battery; empty where none was heard. */
async function describeHeard(value: string): Promise<string> {
  const device = hasEnv(value) ? undefined : parseMac(value);
  if (device === undefined) {
    return '';
  }
  const rows = await fetchRows<Heard>('seen', { what: 'devices', device });
  const { rssi, battery } = (typeof rows === 'string' ? undefined : rows[0]) ?? {};
  const words = [
    rssi !== undefined && text('picker.signal', { rssi }),
    battery !== undefined && text('picker.battery', { level: battery }),
  ];
  return words.filter(Boolean).join(' · ');
}

/** The last value of a property that was heard, of the device that is chosen; empty where there is none, or none is known. */
export async function describeLast(row: Identifier): Promise<string> {
  const isOwn = field('deviceType').val() === 'str' && field('device').val() === '';
  const device = fixed(isOwn ? 'gateway' : 'device');
  if (device === '') {
    return '';
  }
  const at = { ...narrowed(['gateway']), device };
  const rows = await fetchRows<Heard>('seen', { what: 'identifiers', q: row.name || row.id, ...at });
  const known = typeof rows === 'string' ? [] : rows;
  const found = known.find(({ id, value }) => value !== undefined && isCalled(row, id));
  return found ? text('picker.last', { value: shownValue(found.value, row) }) : '';
}
