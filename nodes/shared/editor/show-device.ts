// A button beside a field: the device that stands in it, in the sidebar.
import { parseMac } from '../../../src/protocol/mac.ts';
import { element, field, text } from './panel.ts';
import { chosenService } from './sources.ts';

/** Of the editor: the sidebar is to show a device. */
export const SHOW_DEVICE = 'mt-gateway:show-device';

/** What comes with it. */
export interface DeviceToShow {
  service: string;
  /** 12 lowercase hex digits. */
  id: string;
}

/** Adds the button; it is there while the field holds a fixed address. */
export function addShowButton(input: JQuery, after: JQuery): void {
  const fixedDevice = () =>
    input.typedInput('type') === 'str' ? parseMac(String(input.typedInput('value')).trim()) : undefined;
  const button = element('button', 'red-ui-button mt-gateway-show')
    .attr({ type: 'button', title: text('showDevice'), 'aria-label': text('showDevice') })
    .append('<i class="fa fa-sitemap" aria-hidden="true"></i>')
    .on('click', () => {
      const id = fixedDevice();
      if (id !== undefined) {
        RED.events.emit(SHOW_DEVICE, { service: chosenService(), id } satisfies DeviceToShow);
      }
    })
    .insertAfter(after);
  const show = () =>
    button.toggle(
      fixedDevice() !== undefined &&
        Boolean(RED.nodes.node(chosenService())) &&
        RED.user.hasPermission('mt-service.read'),
    );
  input.on('change', show);
  field('service').on('change', show);
  show();
}
