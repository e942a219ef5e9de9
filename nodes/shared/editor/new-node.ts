// What a node has from the start when it comes from the palette.
import { isPanelOpen } from './panel.ts';
import type { EditorNode } from './red.ts';

/** Ids of nodes from the palette whose panel nobody has opened yet; the editor hands out several objects of one node. */
const fresh = new Set<string>();

/** A node that was not dragged from the palette is as new. */
export function markNew({ id }: EditorNode): void {
  fresh.add(id);
}

/** Ids of nodes from the palette for which there was no service, or several. */
const unserved = new Set<string>();

/** Whether it comes from the palette and has never had a service. */
export const neverHadService = ({ id }: EditorNode): boolean => unserved.has(id);

/** It has a service now. */
export function noteService({ id }: EditorNode): void {
  unserved.delete(id);
}

/** For `onadd`: the node takes the only service that it can use. An imported one stays as it is. */
export function takeOnlyService(this: EditorNode): void {
  const isImported = Boolean(RED.nodes.node(this.id));
  if (!isImported) {
    fresh.add(this.id);
  }
  const [only, ...others] = isImported ? [] : servicesFor(this);
  if (!this.service && only !== undefined && others.length === 0) {
    this.service = only;
  } else if (!isImported) {
    unserved.add(this.id);
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

const LOOK_INTERVAL_MS = 100;
/** A panel that is not open by then was closed again. */
const MAX_LOOKS = 100;

/** In the panel of a node that is new, and only once: runs `then` when the panel has slid in and stands still. */
export function whenNew(node: EditorNode, input: JQuery, then: () => void): void {
  if (!fresh.delete(node.id)) {
    return;
  }
  const row = input.closest('.form-row')[0];
  let before: number | undefined;
  const look = (left: number) => {
    const isThere = row !== undefined && isPanelOpen(row);
    const now = isThere ? row.getBoundingClientRect().x : undefined;
    if (now !== undefined && now === before) {
      then();
    } else if (left > 0) {
      before = now;
      window.setTimeout(look, LOOK_INTERVAL_MS, left - 1);
    }
  };
  look(MAX_LOOKS);
}
