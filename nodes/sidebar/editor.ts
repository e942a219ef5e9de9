// Adds the tab "mt gateway" to the editor's sidebar as long as the service's node can be used.
import { type DeviceToShow, SHOW_DEVICE } from '../shared/editor/show-device.ts';
import { Panel } from './editor-panel.ts';
import { say } from './editor-texts.ts';

const TAB = 'mt-gateway';
const OWNER = 'mt-service';

let panel: Panel | undefined;

function addTab(): void {
  if (panel) {
    return;
  }
  // Node-RED takes the handlers from a tab that it removes: the next one is another.
  panel = new Panel();
  RED.sidebar.addTab({
    id: TAB,
    label: say('label'),
    name: say('name'),
    iconClass: 'fa fa-sitemap',
    content: panel.element,
    enableOnEdit: true,
  });
}

function removeTab(): void {
  if (panel) {
    panel.close();
    panel = undefined;
    RED.sidebar.removeTab(TAB);
  }
}

const isOurs = (set: unknown): boolean => (set as { types?: string[] }).types?.includes(OWNER) === true;

const LISTENERS: Record<string, (value: unknown) => void> = {
  'registry:node-type-added': (type) => type === OWNER && addTab(),
  'registry:node-set-enabled': (set) => isOurs(set) && addTab(),
  'registry:node-set-disabled': (set) => isOurs(set) && removeTab(),
  'registry:node-set-removed': (set) => isOurs(set) && leave(),
  [SHOW_DEVICE]: (chosen) => {
    RED.sidebar.show(TAB);
    panel?.showDevice(chosen as DeviceToShow);
  },
};

for (const [event, listener] of Object.entries(LISTENERS)) {
  RED.events.on(event, listener);
}

/** Where the nodes are installed again, the editor runs all of this again. */
function leave(): void {
  removeTab();
  for (const [event, listener] of Object.entries(LISTENERS)) {
    RED.events.off(event, listener);
  }
}
