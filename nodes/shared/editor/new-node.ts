// What a node has from the start when it comes from the palette.
import type { EditorNode } from './red.ts';

/** For `onadd`: the node takes the only service that it can use. An imported one stays as it is. */
export function takeOnlyService(this: EditorNode): void {
  const isImported = Boolean(RED.nodes.node(this.id));
  const [only, ...others] = isImported ? [] : servicesFor(this);
  if (!this.service && only !== undefined && others.length === 0) {
    this.service = only;
  }
}

/** Services of the whole project and of the node's own subflow, without those that are switched off. */
function servicesFor(node: EditorNode): string[] {
  const services: string[] = [];
  RED.nodes.eachConfig(({ id, type, z, d }) => {
    if (type === 'mt-service' && d !== true && (!z || z === node.z)) {
      services.push(id);
    }
  });
  return services;
}
