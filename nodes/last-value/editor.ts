// The mt-last-value panel: whose last value is sent, and what is known of it now.
import { asText, hasEnv, readList } from '../shared/defaults.ts';
import { caption, captionStyle, listBriefly, ownText } from '../shared/editor/captions.ts';
import { rememberLists, tagLists } from '../shared/editor/lists.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, shows } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { askForProperty, leaveGatewayOpen, showIdentifier, showRoute } from '../shared/editor/request.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { searchGatewayLabels } from '../shared/editor/sources.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { mac, typed, wholeNumber } from '../shared/editor/validate.ts';
import { type LastValueConfig, RANGES } from './config.ts';
import { type KnownView, showKnownValues } from './editor-known.ts';

const LISTS = { labels: { search: searchGatewayLabels, takesCommas: true } };

/** What the open panel holds beside its inputs: the labels as the node is to have them. */
let openPanel: { values(): Record<string, unknown>; known: KnownView } | undefined;

RED.nodes.registerType('mt-last-value', {
  category: 'mt gateway',
  color: '#9CC4C4',
  icon: 'last-value.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    select: { value: 'one' },
    gateway: { value: 'gateway', validate: typed('gateway', mac) },
    gatewayType: { value: 'msg' },
    device: { value: 'device', validate: typed('device', mac) },
    deviceType: { value: 'msg' },
    identifier: { value: 'identifier', validate: typed('identifier', undefined, needsProperty) },
    identifierType: { value: 'msg' },
    labels: { value: [] },
    maxAge: { value: 0, validate: wholeNumber(RANGES.maxAge) },
    tooOld: { value: 'send' },
  } satisfies Defaults<LastValueConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    typedFields(this, {
      gateway: { pick: 'gateway' },
      device: { pick: 'device' },
      identifier: { pick: 'identifier', access: ['report', 'event', 'read'] },
    });
    leaveGatewayOpen(this);
    showRoute(this._('anyGateway'));
    askForProperty(this);
    const lists = tagLists(this, LISTS, () => openPanel?.known.askAnew());
    showIdentifier();
    finishPanel(this);
    field('select').on('change', () => field('identifier').trigger('change'));
    rememberShown(this);
    openPanel = { values: rememberLists(this, lists), known: showKnownValues(this, lists.labels) };
  },
  oneditsave(this: EditorNode) {
    Object.assign(this, openPanel?.values());
    saveTouched(this);
    closePanel();
  },
  oneditcancel: closePanel,
});

/** Of one value; in the open panel by what is chosen there. */
function needsProperty(node: EditorNode): boolean {
  const select: unknown = shows(node, 'identifier') ? field('select').val() : node.select;
  return select !== 'all' && !hasEnv(select);
}

function closePanel(): void {
  openPanel?.known.stop();
  openPanel = undefined;
}

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const fixed = (name: string) => (node[`${name}Type`] === 'str' ? asText(node[name] ?? '') : '');
  const what = fixed('identifier');
  const at = fixed('device') || fixed('gateway');
  const where = nameOrAddress(node, at) || listBriefly(readList(node.labels ?? []));
  const all = node.select === 'all' ? 'all' : 'last';
  return node._(`node.${all}${what ? 'What' : ''}${where ? 'Where' : ''}`, { what, where });
}
