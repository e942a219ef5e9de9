// A drop-down of a few words as radio buttons: all of them in sight, and one click to choose.
import { element } from './panel.ts';

/** Shows radio buttons in the place of a drop-down, which stays to be read and saved. @param label id of its label */
export function asRadios(select: JQuery, label: string): void {
  const name = `mt-gateway-radio-${select.attr('id')}`;
  const group = element('div', 'mt-gateway-radios').attr({ role: 'radiogroup', 'aria-labelledby': label });
  for (const option of select.children('option').get()) {
    const choice = element('label', '').appendTo(group);
    $('<input type="radio">')
      .attr({ name })
      .val(String($(option).val()))
      .on('change', (event) => select.val(String($(event.target).val())).trigger('change'))
      .appendTo(choice);
    // The editor fills in the words when the panel is complete.
    const words = element('span', '', $(option).text()).appendTo(choice);
    words.attr('data-i18n', $(option).attr('data-i18n') ?? null);
  }
  const show = () => group.find('input').val([String(select.val())]);
  select.hide().on('change', show).after(group);
  show();
}
