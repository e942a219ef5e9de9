// The mt-device-list panel: which devices are listed, and how they leave the node.
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { finishPanel, foldable } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { typed, wholeNumber } from '../shared/editor/validate.ts';
import { type DeviceListConfig, RANGES } from './config.ts';

RED.nodes.registerType('mt-device-list', {
  category: 'mt gateway',
  color: '#6A9CA6',
  icon: 'device-list.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    pageSize: { value: 100, validate: wholeNumber(RANGES.pageSize) },
    limit: { value: 0, validate: wholeNumber(RANGES.limit) },
    output: { value: 'array' },
    labels: { value: 'labels', validate: typed('labels') },
    labelsType: { value: 'msg' },
    connected: { value: 'connected', validate: typed('connected') },
    connectedType: { value: 'msg' },
    model: { value: 'model', validate: typed('model') },
    modelType: { value: 'msg' },
    firmware: { value: 'firmware', validate: typed('firmware') },
    firmwareType: { value: 'msg' },
    search: { value: 'search', validate: typed('search') },
    searchType: { value: 'msg' },
    query: { value: '{}', validate: typed('query') },
    queryType: { value: 'json' },
  } satisfies Defaults<DeviceListConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    typedFields(this, {
      labels: { pick: 'label', more: ['json'] },
      connected: { types: ['bool'] },
      model: {},
      firmware: {},
      search: {},
      query: { types: ['json'] },
    });
    const isNew = String(this.pageSize ?? 100) === '100' && String(this.limit ?? 0) === '0';
    foldable('mt-gateway-more', !isNew || (this.query ?? '{}') !== '{}');
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const from = node.labelsType === 'str' && node.labels ? node.labels : '';
  return from ? node._('node.listOf', { from }) : node._('node.list');
}
