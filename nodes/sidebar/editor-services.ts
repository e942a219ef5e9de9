// Which services there are in the editor, and which of them the sidebar shows.
import type { EditorNode } from '../shared/editor/red.ts';

export interface ServiceChoice {
  id: string;
  label: string;
}

/** Services of the editor that are not switched off, by name. */
export function listServices(): ServiceChoice[] {
  const choices = servicesOn().map((node) => ({ id: node.id, label: RED.utils.getNodeLabel(node, node.id) }));
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}

/** The one that was chosen last in this browser, else the one that most nodes use: one that none uses hears nothing. */
export function firstService(): string {
  const services = servicesOn();
  const last = RED.settings.getLocal(CHOSEN);
  const usersOf = ({ users }: EditorNode) => users?.length ?? 0;
  services.sort((one, other) => usersOf(other) - usersOf(one));
  return (services.find(({ id }) => id === last) ?? services[0])?.id ?? '';
}

export const rememberService = (id: string): void => RED.settings.setLocal(CHOSEN, id);

const CHOSEN = 'mt-gateway-service';

function servicesOn(): EditorNode[] {
  const found: EditorNode[] = [];
  RED.nodes.eachConfig((node) => {
    if (node.type === 'mt-service' && node.d !== true) {
      found.push(node);
    }
  });
  return found;
}
