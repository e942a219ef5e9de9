// The mt-service-request panel: the method, path, query and body of a free REST call.
import { caption, captionStyle, ownText } from '../shared/editor/captions.ts';
import { takeOnlyService } from '../shared/editor/new-node.ts';
import { field, finishPanel, row, runOnChange } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import { typedFields } from '../shared/editor/typed-field.ts';
import { typed } from '../shared/editor/validate.ts';
import type { ServiceRequestConfig } from './config.ts';

RED.nodes.registerType('mt-service-request', {
  category: 'mt gateway',
  color: '#6A9CA6',
  icon: 'service-request.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    service: { value: '', type: 'mt-service', required: true },
    method: { value: 'GET' },
    path: { value: 'path', validate: typed('path') },
    pathType: { value: 'msg' },
    query: { value: 'query', validate: typed('query') },
    queryType: { value: 'msg' },
    body: { value: 'payload', validate: typed('body') },
    bodyType: { value: 'msg' },
  } satisfies Defaults<ServiceRequestConfig>,
  paletteLabel: ownText('palette'),
  inputLabels: ownText('port.input'),
  outputLabels: ownText('port.output'),
  label: caption(describe),
  labelStyle: captionStyle(),
  onadd: takeOnlyService,
  oneditprepare(this: EditorNode) {
    showSaved(this);
    typedFields(this, {
      path: { isNeeded: true },
      query: { types: ['json'] },
      body: { types: ['json', 'str'] },
    });
    runOnChange(['method'], () => row('body').toggle(field('method').val() !== 'GET'));
    finishPanel(this);
    rememberShown(this);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this);
  },
});

/** What the node does with its settings, as far as they are fixed. */
function describe(node: EditorNode): string {
  const method = node.method === 'msg' ? '' : node.method;
  const path = node.pathType === 'str' ? node.path : '';
  return [method, path].filter(Boolean).join(' ') || node._('palette');
}
