// What it means that reports are confirmed, and what is still missing for it: a persistent session, QoS, an acknowledge node.
import { field, hint, row } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

const ACKNOWLEDGE = 'mt-timestamped-ack';
const SUBFLOW = 'subflow:';
const LINKS: ReadonlySet<string> = new Set(['link out', 'link call']);

/** Shows the rows that matter for the choice, and a sentence below it. */
export function showConfirm(node: EditorNode): void {
  const isConfirmed = field('confirm').val() === 'acknowledged';
  row('confirmTimeout').toggle(isConfirmed);
  row('redeliverMost').toggle(isConfirmed);
  hint('confirm', isConfirmed ? explain(node) : '');
}

function explain(node: EditorNode): string {
  const service = RED.nodes.node(String(field('service').val() ?? ''));
  const { persistent, reportQos } = (service ?? {}) as Record<string, unknown>;
  const warnings = [
    String(reportQos) === '0' && 'confirmHint.qos',
    !(persistent === true || persistent === 'true') && 'confirmHint.persistent',
    !reachesAcknowledge(node) && 'confirmHint.unreachable',
  ].filter((key) => key !== false);
  return ['confirmHint.meaning', ...warnings].map((key) => node._(key)).join(' ');
}

/** Whether the wires lead to an acknowledge node, through link nodes and link calls, into subflows and out of them. */
function reachesAcknowledge(start: EditorNode): boolean {
  const seen = new Set<string>();
  const next: EditorNode[] = [start];
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    for (const target of targetsOf(node)) {
      if (target.type === ACKNOWLEDGE || mayCallAny(target) || hasAcknowledgeInside(target)) {
        return true;
      }
      if (!seen.has(target.id)) {
        seen.add(target.id);
        next.push(target);
      }
    }
  }
  return false;
}

function targetsOf(node: EditorNode): EditorNode[] {
  // An output of a template leads on behind each of its instances.
  if (node.type === 'subflow') {
    const instances = RED.nodes.filterNodes({ type: `${SUBFLOW}${String(node.z)}` });
    return instances.flatMap((instance) => wiredTo(instance, Number(node.i)));
  }
  const linked = LINKS.has(node.type) && Array.isArray(node.links) ? node.links : [];
  const behindLinks = linked.map((id) => RED.nodes.node(String(id))).filter((one) => one !== null);
  return [...wiredTo(node), ...behindLinks];
}

/** @param sourcePort undefined: any */
const wiredTo = (source: EditorNode, sourcePort?: number): EditorNode[] =>
  RED.nodes
    .filterLinks({ source, ...(sourcePort !== undefined && { sourcePort }) })
    .map(({ target }) => target);

/** The message names what is called. */
const mayCallAny = ({ type, linkType }: EditorNode): boolean =>
  type === 'link call' && linkType === 'dynamic';

/** Somewhere in it: which way a message takes there is not looked at. */
function hasAcknowledgeInside({ type }: EditorNode): boolean {
  return (
    type.startsWith(SUBFLOW) &&
    RED.nodes
      .filterNodes({ z: type.slice(SUBFLOW.length) })
      .some((inside) => inside.type === ACKNOWLEDGE || hasAcknowledgeInside(inside))
  );
}
