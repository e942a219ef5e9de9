// The mt-gw-write panel: what is written to which property; the identifier shapes the value field.
import { asText, FIXED_TYPES, TIMEOUT_RANGE } from '../shared/defaults.ts';
import { caption, captionStyle, ownText, textBriefly } from '../shared/editor/captions.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { finishPanel, foldable } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { optionalIsSet, requestFields, showIdentifier } from '../shared/editor/request.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedField } from '../shared/editor/typed-field.ts';
import { extender, hexBytes, mac, typed, wholeNumber } from '../shared/editor/validate.ts';
import type { GwWriteConfig } from './config.ts';
import { checkValue, prepareValue, valueShaper } from './editor-value.ts';

RED.nodes.registerType('mt-gw-write', {
  category: 'mt gateway',
  color: '#7FB0B5',
  icon: 'gw-write.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    gateway: { value: 'gateway', validate: typed('gateway', mac) },
    gatewayType: { value: 'msg' },
    device: { value: 'device', validate: typed('device', mac) },
    deviceType: { value: 'msg' },
    identifier: { value: 'identifier', validate: typed('identifier', undefined, () => true) },
    identifierType: { value: 'msg' },
    value: { value: 'payload', validate: checkValue },
    valueType: { value: 'msg' },
    ext: { value: 'ext', validate: typed('ext') },
    extType: { value: 'msg' },
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
  } satisfies Defaults<GwWriteConfig>,
  credentials: { key: { type: 'password' } },
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    requestFields(this, ['write', 'command']);
    prepareValue(this);
    typedField(this, 'ext', { types: ['json'] });
    foldable('mt-gateway-more', optionalIsSet(this) || this.extType === 'json');
    showIdentifier(valueShaper(this));
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const at = node.deviceType === 'str' ? node.device : '';
  const what = node.identifierType === 'str' ? node.identifier : '';
  const isFixed = FIXED_TYPES.some((type) => type === node.valueType);
  const value = isFixed ? textBriefly(asText(node.value ?? '')) : '';
  const key = `node.write${what ? 'What' : ''}${what && value ? 'Value' : ''}${at ? 'Where' : ''}`;
  return node._(key, { what, value, where: nameOrAddress(node, at) });
}
