// The mt-gw-read panel: what is read of which device; under the identifier is what the catalogue knows of it.
import { TIMEOUT_RANGE } from '../shared/defaults.ts';
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, foldable, row, runOnChange, shows } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { OPTIONAL_FIELDS, optionalIsSet, requestFields, showIdentifier } from '../shared/editor/request.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { extender, hexBytes, mac, typed, wholeNumber } from '../shared/editor/validate.ts';
import type { GwReadConfig } from './config.ts';

RED.nodes.registerType('mt-gw-read', {
  category: 'mt gateway',
  color: '#7FB0B5',
  icon: 'gw-read.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    operation: { value: 'read' },
    gateway: { value: 'gateway', validate: typed('gateway', mac) },
    gatewayType: { value: 'msg' },
    device: { value: 'device', validate: typed('device', mac) },
    deviceType: { value: 'msg' },
    identifier: { value: 'identifier', validate: typed('identifier', undefined, readsProperty) },
    identifierType: { value: 'msg' },
    form: { value: 'auto' },
    priority: { value: 'priority', validate: typed('priority') },
    priorityType: { value: 'msg' },
    extenderId: { value: 'extenderId', validate: typed('extenderId', extender) },
    extenderIdType: { value: 'msg' },
    accessType: { value: 'accessType', validate: typed('accessType') },
    accessTypeType: { value: 'msg' },
    publicKey: { value: 'publicKey', validate: typed('publicKey', hexBytes) },
    publicKeyType: { value: 'msg' },
    timeout: { value: '', validate: wholeNumber({ ...TIMEOUT_RANGE, blank: true }) },
    decode: { value: true },
  } satisfies Defaults<GwReadConfig>,
  credentials: { key: { type: 'password' } },
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    requestFields(this, ['read']);
    foldable('mt-gateway-more', optionalIsSet(this));
    runOnChange(['operation'], () => {
      const reads = readsProperty(this);
      for (const name of ['device', 'identifier', 'form', 'decode', ...OPTIONAL_FIELDS]) {
        row(name).toggle(reads);
      }
    });
    showIdentifier();
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** In the open panel by what is chosen there. */
function readsProperty(node: EditorNode): boolean {
  return (shows(node, 'identifier') ? field('operation').val() : node.operation) !== 'apiversion';
}

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const at = node.deviceType === 'str' ? node.device : node.gatewayType === 'str' ? node.gateway : '';
  if (node.operation === 'apiversion') {
    return node.gatewayType === 'str' && node.gateway
      ? node._('node.versionOf', { where: nameOrAddress(node, node.gateway) })
      : node._('node.version');
  }
  const what = node.identifierType === 'str' ? node.identifier : '';
  const key = `node.read${what ? 'What' : ''}${at ? 'Where' : ''}`;
  return node._(key, { what, where: nameOrAddress(node, at) });
}
