// The mt-label panel: whether a label is created or removed, and from which device.
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, hint, row, runOnChange } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { device, typed } from '../shared/editor/validate.ts';
import type { LabelConfig } from './config.ts';

RED.nodes.registerType('mt-label', {
  category: 'mt gateway',
  color: '#6A9CA6',
  icon: 'label.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    action: { value: 'create' },
    label: { value: 'payload', validate: typed('label') },
    labelType: { value: 'msg' },
    device: { value: 'device', validate: typed('device', device) },
    deviceType: { value: 'msg' },
  } satisfies Defaults<LabelConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    typedFields(this, {
      label: { pick: 'label', isNeeded: true },
      device: { pick: 'listed', isNeeded: true },
    });
    runOnChange(['action'], () => {
      const action = field('action').val();
      row('device').toggle(action !== 'create');
      hint('action', action === 'remove' ? '' : this._('hint.create'));
    });
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const what = node.labelType === 'str' ? node.label : '';
  const action = ['create', 'remove'].find((known) => known === (node.action ?? 'create')) ?? 'either';
  return what ? node._(`node.${action}What`, { what }) : node._(`node.${action}`);
}
