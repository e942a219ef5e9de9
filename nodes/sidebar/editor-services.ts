// Which services there are in the editor, and which of them the sidebar shows.

export interface ServiceChoice {
  id: string;
  label: string;
}

/** Services of the editor that are not switched off, by name. */
export function listServices(): ServiceChoice[] {
  const choices: ServiceChoice[] = [];
  RED.nodes.eachConfig((node) => {
    if (node.type === 'mt-service' && node.d !== true) {
      choices.push({ id: node.id, label: RED.utils.getNodeLabel(node, node.id) });
    }
  });
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}
