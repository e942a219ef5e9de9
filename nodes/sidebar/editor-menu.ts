// A small menu at a place of the screen, for mouse and keys.
import { element } from '../shared/editor/panel.ts';

export interface Point {
  x: number;
  y: number;
}

export interface MenuChoice {
  label: string;
  choose(): void;
}

/** Opens the menu; it closes with a choice, with Escape, and when the focus goes elsewhere. */
export function openMenu(label: string, choices: readonly MenuChoice[], at: Point): void {
  $('.mt-gateway-menu').remove();
  const before = document.activeElement as HTMLElement | null;
  const menu = element('div', 'mt-gateway-menu').attr({ role: 'menu', 'aria-label': label });
  // For a screen reader it is the name of the menu.
  element('div', 'mt-gateway-menu-heading', label)
    .attr('aria-hidden', 'true')
    // The focus stays where it is.
    .on('mousedown', (event) => event.preventDefault())
    .appendTo(menu);
  const close = () => {
    menu.remove();
    before?.focus();
  };
  for (const { label: words, choose } of choices) {
    element('button', 'mt-gateway-menu-choice', words)
      .attr({ type: 'button', role: 'menuitem', tabindex: -1 })
      .on('click', () => {
        close();
        choose();
      })
      .appendTo(menu);
  }
  menu.on('keydown', (event) => moveBy(event, menu, close));
  menu.on('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && menu[0]?.contains(relatedTarget))) {
      menu.remove();
    }
  });
  menu.appendTo(document.body);
  const { offsetWidth, offsetHeight } = menu[0]!;
  menu.css({
    left: Math.max(4, Math.min(at.x, window.innerWidth - offsetWidth - 4)),
    top: Math.max(4, Math.min(at.y, window.innerHeight - offsetHeight - 4)),
  });
  itemsOf(menu).first().trigger('focus');
}

const itemsOf = (menu: JQuery): JQuery => menu.children('[role=menuitem]');

function moveBy(event: JQuery.KeyDownEvent, menu: JQuery, close: () => void): void {
  const items = itemsOf(menu);
  const index = items.index(document.activeElement ?? undefined);
  const to: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 };
  const wanted = to[event.key];
  if (wanted !== undefined) {
    items.eq(wanted % items.length).trigger('focus');
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    close();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}
