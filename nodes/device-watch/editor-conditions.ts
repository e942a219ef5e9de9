// The conditions as checkboxes, each with a line that explains it, and the limits that belong to them.
import { CONDITION_NAMES, type Condition } from '../../src/protocol/conditions.ts';
import { readList } from '../shared/defaults.ts';
import { element, row } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { isCondition } from './config.ts';

/** The conditions to which a setting belongs. */
const LIMITS: Record<string, readonly Condition[]> = {
  silentAfter: ['silent', 'gateway-silent', 'battery-low', 'weak-signal'],
  batteryBelow: ['battery-low'],
  batteryFine: ['battery-low'],
  signalBelow: ['weak-signal'],
};

/** A condition that is not known, or a variable, has no name but itself. */
const nameOf = (node: EditorNode, condition: string): string =>
  isCondition(condition) ? node._(`condition.${condition}`) : condition;

/** Builds the checkboxes. A saved condition that is not known stays, as a checkbox of its own. @returns reads them */
export function conditionBoxes(container: JQuery, node: EditorNode): () => string[] {
  const saved = readList(node.conditions ?? node._def.defaults.conditions?.value ?? []);
  const unknown = saved.filter((condition) => !isCondition(condition));
  container
    .addClass('mt-gateway-kinds')
    .attr({ role: 'group', 'aria-labelledby': 'mt-gateway-label-conditions' })
    .empty();
  const boxes = [...CONDITION_NAMES, ...unknown].map((condition) => conditionBox(container, node, condition));
  const chosen = () => boxes.filter((box) => box.prop('checked')).map((box) => String(box.val()));
  const problem = element('div', 'mt-gateway-problem', node._('problem.chooseOne')).attr('role', 'alert');
  problem.insertAfter(container);
  const show = () => {
    problem.toggle(chosen().length === 0);
    showLimits(chosen());
  };
  for (const box of boxes) {
    box.prop('checked', saved.includes(String(box.val()))).on('change', show);
  }
  show();
  return chosen;
}

function conditionBox(container: JQuery, node: EditorNode, condition: string): JQuery {
  const line = element('label', 'mt-gateway-kind').appendTo(container);
  const input = $('<input type="checkbox">').val(condition).attr('id', `mt-gateway-condition-${condition}`);
  const words = element('span', '', nameOf(node, condition)).appendTo(line.append(input));
  element('small', '', isCondition(condition) ? node._(`explain.${condition}`) : '').appendTo(words);
  return input;
}

/** Limits that mean nothing for what is ticked are not shown; a variable may tick any. */
function showLimits(chosen: readonly string[]): void {
  const isOpen = chosen.some((condition) => !isCondition(condition));
  for (const [setting, conditions] of Object.entries(LIMITS)) {
    const isNeeded = conditions.some((condition) => chosen.includes(condition));
    row(setting).toggle(isOpen || isNeeded);
  }
}
