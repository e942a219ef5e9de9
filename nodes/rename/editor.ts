// The mt-rename panel: which device gets which name.
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { nameOrAddress } from '../shared/editor/names.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { finishPanel, NODE_INPUT } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { isTouched, rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { device, typed } from '../shared/editor/validate.ts';
import { type RenameConfig, readCaption } from './config.ts';

const givenName = (node: EditorNode): unknown => readCaption(node).title;

RED.nodes.registerType('mt-rename', {
  category: 'mt gateway',
  color: '#6A9CA6',
  icon: 'rename.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    title: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    device: { value: 'device', validate: typed('device', device) },
    deviceType: { value: 'msg' },
    name: { value: 'payload', validate: checkName },
    nameType: { value: 'msg' },
  } satisfies Defaults<RenameConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe, givenName),
  labelStyle: captionStyle(givenName),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    const shown = readCaption(this);
    showSaved(this, NODE_INPUT, shown);
    typedFields(this, { device: { pick: 'listed', isNeeded: true }, name: { isNeeded: true } }, shown);
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    const { title } = readCaption(this);
    // The caption stood where the new name is saved from now on.
    if (isTouched(this, 'name') && title) {
      this.title = title;
    }
    saveTouched(this);
  },
});

const checkTyped = typed('name');

/** A caption needs no check. */
function checkName(this: EditorNode, value: unknown, options: unknown): boolean | string {
  const isCaption = value === this.name && readCaption(this).name === undefined;
  return isCaption ? true : checkTyped.call(this, value, options);
}

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const where = node.deviceType === 'str' ? node.device : '';
  return where ? node._('node.renameWhere', { where: nameOrAddress(node, where) }) : node._('node.rename');
}
