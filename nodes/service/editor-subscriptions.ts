// How many subscriptions the deployed service needs and has, below the setting that limits them.
import { CONFIG_INPUT, field, hintBelow } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

interface Counts {
  needed: number;
  inUse: number;
  max?: number;
}

/** A service that is not deployed has none; nothing is shown then. */
export async function showSubscriptions(node: EditorNode): Promise<void> {
  const input = field('maxSubscriptions', CONFIG_INPUT);
  const url = `mt-service/${encodeURIComponent(node.id)}/subscriptions`;
  const counts = await Promise.resolve<Partial<Counts>>($.getJSON(url)).catch((): Partial<Counts> => ({}));
  const { needed, inUse, max } = counts;
  if (typeof needed !== 'number' || typeof inUse !== 'number') {
    return;
  }
  const key = max === undefined ? 'subscriptions.now' : 'subscriptions.ofMax';
  hintBelow(input, node._(key, { needed, inUse, ...(max !== undefined && { max }) }));
}
