// How the choices of a picker look, and where their list stands.
import { element, sidebarText, text } from './panel.ts';

export interface Choice {
  value: string;
  title: string;
  detail?: string;
  /** Shown as words beside a coloured dot. */
  connected?: boolean;
  /** So says only the device list: the dot is for what was heard. */
  isUnheard?: boolean;
  tags?: readonly string[];
  /** The last value that was heard. */
  last?: string;
  /** What was typed, as it is. */
  isTyped?: boolean;
}

/** What the device list says of a device, and whether that is all there is. */
export const linkText = (connected = false, isUnheard = false): string =>
  [text(connected ? 'picker.connected' : 'picker.notConnected'), isUnheard && sidebarText('never')]
    .filter(Boolean)
    .join(' · ');

/** One choice as a row of the list. */
export function choiceRow(choice: Choice, id: string): JQuery {
  const line = element('div', 'mt-gateway-choice').attr({ id, role: 'option', 'aria-selected': 'false' });
  line.toggleClass('mt-gateway-choice-typed', choice.isTyped === true);
  const head = element('div', 'mt-gateway-choice-head').appendTo(line);
  element('span', 'mt-gateway-choice-title', choice.title).appendTo(head);
  if (choice.last) {
    element('span', 'mt-gateway-choice-last', choice.last).appendTo(head);
  }
  if (choice.connected !== undefined) {
    const isOn = choice.connected && !choice.isUnheard;
    element(
      'span',
      `mt-gateway-link ${isOn ? 'mt-gateway-on' : 'mt-gateway-off'}`,
      linkText(choice.connected, choice.isUnheard),
    ).appendTo(head);
  }
  const foot = element('div', 'mt-gateway-choice-foot').appendTo(line);
  element('span', 'mt-gateway-choice-detail', choice.detail ?? '').appendTo(foot);
  for (const tag of choice.tags ?? []) {
    element('span', 'mt-gateway-tag', tag).appendTo(foot);
  }
  return line;
}

/** What the user sees as the field that an input stands in. */
const FIELDS = '.mt-gateway-chips, .red-ui-typedInput-container';

/**
 * Shows the list over the panel, so that nothing is cut off, and has it follow its field.
 * @param close for a field that is hidden: no browser tells of a blur then
 * @returns ends that
 */
export function showAt(list: JQuery, input: JQuery, close: () => void): () => void {
  list.appendTo(document.body).show().scrollTop(0);
  place(list, input);
  const follow = () => (input.is(':visible') ? place(list, input) : close());
  // The field moves when the panel is scrolled, and when rows above it change.
  const resized = new ResizeObserver(follow);
  for (const one of input.parentsUntil('.red-ui-tray').addBack().get()) {
    resized.observe(one);
  }
  document.addEventListener('scroll', follow, true);
  window.addEventListener('resize', follow);
  return () => {
    resized.disconnect();
    document.removeEventListener('scroll', follow, true);
    window.removeEventListener('resize', follow);
    list.detach().hide();
  };
}

/** Directly under its field, or above it where there is more room. */
function place(list: JQuery, input: JQuery): void {
  const field = input.closest(FIELDS)[0] ?? input[0];
  const box = field?.getBoundingClientRect();
  if (!box) {
    return;
  }
  const below = window.innerHeight - box.bottom - 8;
  const up = below < 180 && box.top > below;
  const width = Math.max(box.width, 320);
  list.css({
    left: Math.max(4, Math.min(box.left, window.innerWidth - width - 4)),
    width,
    maxHeight: Math.min(300, up ? box.top - 8 : below),
    top: up ? 'auto' : box.bottom + 2,
    bottom: up ? window.innerHeight - box.top + 2 : 'auto',
  });
}
