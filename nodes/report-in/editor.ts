// The mt-report-in panel: which reports the node lets through, and a look at those that would pass.
import { readList } from '../shared/defaults.ts';
import { caption, captionStyle, listBriefly, ownText } from '../shared/editor/captions.ts';
import { type Lists, rememberLists, tagLists } from '../shared/editor/lists.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, foldable, row, runOnChange } from '../shared/editor/panel.ts';
import { asRadios } from '../shared/editor/radios.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import {
  nameOfDevice,
  remarkIdentifier,
  searchGatewayLabels,
  searchGateways,
  searchHeardDevices,
  searchIdentifiers,
} from '../shared/editor/sources.ts';
import { each, mac, wholeNumber } from '../shared/editor/validate.ts';
import { RANGES, type ReportInConfig } from './config.ts';
import { isDeployed, press } from './editor-button.ts';
import { showConfirm } from './editor-confirm.ts';
import { accessOfKinds, KINDS_WITH_FORM, KINDS_WITH_VALUE, kindBoxes, nameOfKind } from './editor-kinds.ts';
import { startPreview } from './editor-preview.ts';

const LISTS = {
  labels: { search: searchGatewayLabels, takesCommas: true },
  gateways: { search: searchGateways, nameOf: nameOfDevice, check: mac },
  devices: { search: searchHeardDevices, nameOf: nameOfDevice, check: mac },
  identifiers: {
    search: (query: string) => searchIdentifiers(query, accessOfKinds(openPanelState?.lists.kinds() ?? [])),
    remark: remarkIdentifier,
  },
};

/** What the open panel holds beside its inputs. */
let openPanelState: PanelState | undefined;

interface PanelState {
  lists: Lists<keyof typeof LISTS | 'kinds'>;
  /** The lists as the node is to have them. */
  values(): Record<string, unknown>;
  stop(): void;
}

RED.nodes.registerType('mt-report-in', {
  category: 'mt gateway',
  color: '#9CC4C4',
  icon: 'report-in.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    kinds: { value: [] },
    form: { value: 'both' },
    gateways: { value: [], validate: each(mac) },
    devices: { value: [], validate: each(mac) },
    identifiers: { value: [] },
    labels: { value: [] },
    labelRefresh: { value: 300, validate: wholeNumber(RANGES.labelRefresh) },
    decode: { value: true },
    output: { value: 'report' },
    duplicates: { value: 'keep' },
    duplicateWindow: { value: 10, validate: wholeNumber(RANGES.duplicateWindow) },
    confirm: { value: 'sent' },
    confirmTimeout: { value: 300, validate: wholeNumber(RANGES.confirmTimeout) },
    redeliverMost: { value: 20, validate: wholeNumber(RANGES.redeliverMost) },
    statusShows: { value: 'connection' },
  } satisfies Defaults<ReportInConfig>,
  paletteLabel: ownText('palette'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  button: { enabled: isDeployed, onclick: press },
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    asRadios(field('output'), 'mt-gateway-label-output');
    openPanel(this);
    runOnChange(['labelRefresh'], showWhatMatters);
    runOnChange(['confirm', 'service'], () => showConfirm(this));
    for (const name of ['duplicates', 'form']) {
      field(name).on('change', showWhatMatters);
    }
    foldable('mt-gateway-more', isSpecial(this));
    finishPanel(this);
    rememberShown(this);
    startPanelPreview(this);
  },
  oneditsave(this: EditorNode) {
    Object.assign(this, openPanelState?.values());
    saveTouched(this);
    closePanel();
  },
  oneditcancel() {
    closePanel();
  },
  oneditdelete() {
    closePanel();
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const list = (name: string) => readList(node[name] ?? []);
  const identifiers = list('identifiers');
  const what = listBriefly(identifiers) || listBriefly(list('kinds'), (kind) => nameOfKind(node, kind));
  const nameOf = (one: string) => nameOrAddress(node, one);
  const [name, where] = (
    [
      ['devices', listBriefly(list('devices'), nameOf)],
      ['labels', listBriefly(list('labels'))],
      ['gateways', listBriefly(list('gateways'), nameOf)],
    ] as const
  ).find(([, found]) => found !== '') ?? ['', ''];
  const from = where && node._(`node.${name}`, { where });
  return node._(`node.${what ? 'what' : 'all'}${from ? 'From' : ''}`, { what, from });
}

function openPanel(node: EditorNode): void {
  const tags = tagLists(node, LISTS, showWhatMatters);
  const lists = { ...tags, kinds: kindBoxes($('#mt-gateway-kinds'), node, () => showWhatMatters()) };
  openPanelState = { lists, values: rememberLists(node, lists), stop: () => undefined };
}

function startPanelPreview(node: EditorNode): void {
  if (openPanelState) {
    openPanelState.stop = startPreview(node, () => openPanelState?.values() ?? {});
  }
}

function closePanel(): void {
  openPanelState?.stop();
  openPanelState = undefined;
}

/** Settings that mean nothing for the chosen kinds, or without others, are not shown. */
function showWhatMatters(): void {
  const kinds = openPanelState?.lists.kinds() ?? [];
  const concerns = (some: readonly string[]) =>
    kinds.length === 0 || kinds.some((kind) => some.includes(kind));
  row('form').toggle(concerns(KINDS_WITH_FORM));
  row('decode').toggle(concerns(KINDS_WITH_VALUE));
  $('#mt-gateway-identifiers').closest('.form-row').toggle(concerns(KINDS_WITH_FORM));
  row('duplicateWindow').toggle(field('duplicates').val() !== 'keep');
  row('labelRefresh').toggle((openPanelState?.lists.labels().length ?? 0) > 0);
}

function isSpecial(node: EditorNode): boolean {
  const isUsual = (name: string, usual: unknown) => (node[name] ?? usual) === usual;
  return !(
    isUsual('decode', true) &&
    isUsual('form', 'both') &&
    isUsual('confirm', 'sent') &&
    isUsual('statusShows', 'connection') &&
    node.duplicates !== 'drop'
  );
}
