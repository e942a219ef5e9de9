// Where last values are kept over a restart: Node-RED's context stores to choose from, and any other by its name.
import { hasEnv } from '../shared/defaults.ts';
import { CONFIG_INPUT, element, field, text } from '../shared/editor/panel.ts';
import { attachPicker } from '../shared/editor/picker.ts';
import type { Choice } from '../shared/editor/picker-list.ts';
import type { EditorNode } from '../shared/editor/red.ts';

/** Makes *Remember in* a list with a button, as the other fields have it, and says what a store does not keep. */
export function offerStores(node: EditorNode): void {
  const input = field('remember', CONFIG_INPUT);
  const stores = (RED.settings.context?.stores ?? []).map(
    (store): Choice => ({ value: store, title: store }),
  );
  const choices = [{ value: '', title: node._('label.rememberPlaceholder') }, ...stores];
  const picker = attachPicker(input, {
    search: async (query) => ({
      choices: choices.filter(({ title }) => title.toLowerCase().includes(query.trim().toLowerCase())),
    }),
  });
  element('button', 'red-ui-button mt-gateway-pick')
    .attr({ type: 'button', title: text('pick.store'), 'aria-label': text('pick.store') })
    .append('<i class="fa fa-caret-down" aria-hidden="true"></i>')
    .on('mousedown', (event) => event.preventDefault())
    .on('click', picker.toggle)
    .insertAfter(input);
  const line = element('div', 'mt-gateway-problem')
    .attr('role', 'alert')
    .appendTo(input.closest('.form-row'));
  const warn = () => {
    const store = String(input.val()).trim();
    const problem = findProblem(store);
    line.text(problem ? node._(`remember.${problem}`, { store }) : '').toggle(problem !== undefined);
  };
  input.on('input change', warn);
  warn();
}

/** As the runtime would find it, which only warns of it: the field is not marked as wrong. */
function findProblem(store: string): 'unknown' | 'memory' | undefined {
  const { context, mtServiceForgetful = [] } = RED.settings;
  if (store === '' || hasEnv(store)) {
    return undefined;
  }
  if (context?.stores?.includes(store) === false) {
    return 'unknown';
  }
  return mtServiceForgetful.includes(store) ? 'memory' : undefined;
}
