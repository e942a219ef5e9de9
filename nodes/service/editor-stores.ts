// Where last values are kept over a restart: Node-RED's context stores to choose from, and any other by its name.
import { CONFIG_INPUT, element, field, text } from '../shared/editor/panel.ts';
import { attachPicker } from '../shared/editor/picker.ts';
import type { Choice } from '../shared/editor/picker-list.ts';

/** Makes *Remember in* a list with a button, as the other fields have it. @param none what keeping nothing is called */
export function offerStores(none: string): void {
  const input = field('remember', CONFIG_INPUT);
  const stores = (RED.settings.context?.stores ?? []).map(
    (store): Choice => ({ value: store, title: store }),
  );
  const choices = [{ value: '', title: none }, ...stores];
  const picker = attachPicker(input, {
    search: async (query) => ({
      choices: choices.filter(({ title }) => title.toLowerCase().includes(query.trim().toLowerCase())),
    }),
  });
  element('button', 'red-ui-button mt-gateway-pick')
    .attr({ type: 'button', title: text('pick.store'), 'aria-label': text('pick.store') })
    .append('<i class="fa fa-caret-down" aria-hidden="true"></i>')
    .on('mousedown', (event) => event.preventDefault())
    .on('click', picker.open)
    .insertAfter(input);
}
