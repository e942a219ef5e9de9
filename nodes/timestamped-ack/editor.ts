// The mt-timestamped-ack panel: whether to wait, and where a sample without a report is found.
import { FORMS } from '../../src/protocol/reports/index.ts';
import { TIMEOUT_RANGE } from '../shared/defaults.ts';
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, foldable, row, runOnChange, text } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { mac, typed, wholeNumber } from '../shared/editor/validate.ts';
import { RANGES, type TimestampedAckConfig } from './config.ts';

const FIELDS = ['gateway', 'device', 'identifier', 'form', 'time'];

RED.nodes.registerType('mt-timestamped-ack', {
  category: 'mt gateway',
  color: '#7FB0B5',
  icon: 'timestamped-ack.svg',
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
    identifier: { value: 'identifier', validate: typed('identifier') },
    identifierType: { value: 'msg' },
    form: { value: 'form', validate: typed('form') },
    formType: { value: 'msg' },
    time: { value: 'time', validate: typed('time') },
    timeType: { value: 'msg' },
    wait: { value: true },
    timeout: { value: '', validate: wholeNumber({ ...TIMEOUT_RANGE, blank: true }) },
    action: { value: 'stored' },
    retryAfter: { value: 10, validate: wholeNumber(RANGES.retryAfter) },
  } satisfies Defaults<TimestampedAckConfig>,
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
      identifier: { pick: 'identifier', access: ['report'] },
      form: { types: [formType()] },
      time: {},
    });
    foldable(
      'mt-gateway-more',
      FIELDS.some((name) => (this[`${name}Type`] ?? 'msg') !== 'msg'),
    );
    runOnChange(['wait'], () => row('timeout').toggle(field('wait').prop('checked') === true));
    runOnChange(['action'], () => row('retryAfter').toggle(field('action').val() === 'msg'));
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  return node._(node.wait === false ? 'node.send' : 'node.wait');
}

function formType() {
  const options = FORMS.map((value) => ({ value, label: text(`form.${value}`) }));
  return { value: 'str', label: text('type.form'), options };
}
