// The mt-device-watch panel: whom it watches, for what, and what is active now.
import { hasEnv, readList } from '../shared/defaults.ts';
import { caption, captionStyle, listBriefly, ownText } from '../shared/editor/captions.ts';
import { rememberLists, tagLists } from '../shared/editor/lists.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { finishPanel } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import {
  nameOfDevice,
  searchGatewayLabels,
  searchGateways,
  searchHeardDevices,
} from '../shared/editor/sources.ts';
import { each, mac, wholeNumber } from '../shared/editor/validate.ts';
import { type DeviceWatchConfig, isCondition, RANGES } from './config.ts';
import { showActiveConditions } from './editor-active.ts';
import { conditionBoxes } from './editor-conditions.ts';

const LISTS = {
  labels: { search: searchGatewayLabels, takesCommas: true },
  gateways: { search: searchGateways, nameOf: nameOfDevice, check: mac },
  devices: { search: searchHeardDevices, nameOf: nameOfDevice, check: mac },
};

/** What the open panel holds beside its inputs: the lists as the node is to have them. */
let openPanel: { values(): Record<string, unknown>; stop(): void } | undefined;

RED.nodes.registerType('mt-device-watch', {
  category: 'mt gateway',
  color: '#9CC4C4',
  icon: 'device-watch.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    gateways: { value: [], validate: each(mac) },
    devices: { value: [], validate: each(mac) },
    labels: { value: [] },
    conditions: { value: ['silent', 'gateway-silent'], validate: someCondition },
    silentAfter: { value: 0, validate: wholeNumber(RANGES.silentAfter) },
    batteryBelow: { value: 20, validate: wholeNumber(RANGES.batteryBelow) },
    batteryFine: { value: 0, validate: wholeNumber(RANGES.batteryFine) },
    signalBelow: { value: -85, validate: wholeNumber(RANGES.signalBelow) },
  } satisfies Defaults<DeviceWatchConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    const tags = tagLists(this, LISTS);
    const conditions = conditionBoxes($('#mt-gateway-conditions'), this);
    finishPanel(this);
    rememberShown(this);
    openPanel = { values: rememberLists(this, { ...tags, conditions }), stop: showActiveConditions(this) };
  },
  oneditsave(this: EditorNode) {
    Object.assign(this, openPanel?.values());
    saveTouched(this);
    closePanel();
  },
  oneditcancel: closePanel,
});

function closePanel(): void {
  openPanel?.stop();
  openPanel = undefined;
}

/** At least one, and none that is not known. */
function someCondition(this: EditorNode, value: unknown, _options: unknown): boolean | string {
  const conditions = readList(value ?? []);
  const isFine = conditions.length > 0 && conditions.every((name) => isCondition(name) || hasEnv(name));
  return value === undefined || isFine || this._('problem.chooseOne');
}

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const nameOf = (one: string) => nameOrAddress(node, one);
  const list = (name: string) => readList(node[name] ?? []);
  const where =
    listBriefly(list('devices'), nameOf) ||
    listBriefly(list('labels')) ||
    listBriefly(list('gateways'), nameOf);
  return node._(where ? 'node.where' : 'node.all', { where });
}
