// Which services there are in the editor, and which of them the sidebar shows.
import { isOn } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

export interface ServiceChoice {
  id: string;
  label: string;
}

/** Services of the editor by name, those that are disabled, too: one that is shown is not to vanish without a word. */
export function listServices(): ServiceChoice[] {
  const choices = services().map((node) => ({ id: node.id, label: labelOf(node) }));
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}

/** As the editor's own lists of such nodes mark one that is disabled. */
function labelOf(node: EditorNode): string {
  const label = RED.utils.getNodeLabel(node, node.id);
  return isOn(node) ? label : `${label} [${RED._('workspace.disabled')}]`;
}

/** Of those that are not disabled the one that was chosen last in this browser, else the one that most nodes use: one that none uses hears nothing. */
export function firstService(): string {
  const all = services();
  const on = all.filter(isOn);
  const choices = on.length > 0 ? on : all;
  const last = RED.settings.getLocal(CHOSEN);
  const usersOf = ({ users }: EditorNode) => users?.length ?? 0;
  choices.sort((one, other) => usersOf(other) - usersOf(one));
  return (choices.find(({ id }) => id === last) ?? choices[0])?.id ?? '';
}

export const rememberService = (id: string): void => RED.settings.setLocal(CHOSEN, id);

const CHOSEN = 'mt-gateway-service';

function services(): EditorNode[] {
  const found: EditorNode[] = [];
  RED.nodes.eachConfig((node) => {
    if (node.type === 'mt-service') {
      found.push(node);
    }
  });
  return found;
}
