// What stands above the tree: the service, what is searched, how it is sorted, and whether only those in need are shown.
import { element } from '../shared/editor/panel.ts';
import type { Filters } from './editor-model.ts';
import { firstService, listServices, rememberService } from './editor-services.ts';
import { say } from './editor-texts.ts';

/** Where each order begins: who looks for a battery looks for an empty one. */
const SORTS = { name: '', lastSeen: '-', rssi: '-', battery: '' } as const;
const TYPING_PAUSE_MS = 250;

export class Controls {
  readonly element: HTMLElement;
  readonly #service = element('select', 'mt-gateway-side-service');
  readonly #search = element('input', 'mt-gateway-side-search');
  readonly #sort = element('select', 'mt-gateway-side-sort');
  readonly #direction = element('button', 'red-ui-button red-ui-button-small');
  readonly #needs = element('input', '');
  readonly #everything = element('input', '');
  readonly #more = element('button', 'red-ui-button red-ui-button-small mt-gateway-side-more');
  readonly #near = element('button', 'red-ui-button red-ui-button-small mt-gateway-side-near');
  #sign = '';
  #typing: number | undefined;
  #services = '';

  /**
   * @param changed what is looked for, or where, is another
   * @param entered what was found is wanted
   */
  constructor(changed: () => void, entered: () => void) {
    const search = () => {
      this.#typing = undefined;
      changed();
    };
    this.#service.attr({ 'aria-label': say('service') }).on('change', () => {
      this.#showWhole();
      rememberService(this.service);
      changed();
    });
    this.#search
      .attr({ type: 'search', placeholder: say('search'), 'aria-label': say('search'), maxlength: 100 })
      .on('input', () => {
        window.clearTimeout(this.#typing);
        this.#typing = window.setTimeout(search, TYPING_PAUSE_MS);
      })
      .on('keydown', (event) => {
        const { key, ctrlKey, metaKey, altKey, isComposing } = event.originalEvent as KeyboardEvent;
        if ((key !== 'ArrowDown' && key !== 'Enter') || ctrlKey || metaKey || altKey || isComposing) {
          return;
        }
        event.preventDefault();
        if (this.#typing !== undefined) {
          window.clearTimeout(this.#typing);
          search();
        }
        entered();
      });
    this.#sort.attr({ 'aria-label': say('sort'), title: say('sort') }).on('change', () => {
      this.#setSign(SORTS[this.#sort.val() as keyof typeof SORTS]);
      changed();
    });
    for (const name of Object.keys(SORTS)) {
      $('<option>')
        .val(name)
        .text(say(`sortBy.${name}`))
        .appendTo(this.#sort);
    }
    this.#direction.attr('type', 'button').on('click', () => {
      this.#setSign(this.#sign === '' ? '-' : '');
      changed();
    });
    this.#setSign('');
    const filtered = () => {
      this.#showFilters();
      changed();
    };
    this.#needs.attr({ type: 'checkbox', id: 'mt-gateway-side-needs' }).on('change', filtered);
    this.#everything.attr({ type: 'checkbox', id: 'mt-gateway-side-everything' }).on('change', filtered);
    this.#near
      .attr({ type: 'button', 'aria-pressed': 'false' })
      .append('<i class="fa fa-hand-paper-o" aria-hidden="true"></i> ', element('span', '', say('near.mode')))
      .on('click', () => {
        this.#near.attr('aria-pressed', String(!this.isNear));
        if (this.isNear) {
          // What is in a hand need not be among what was searched for.
          this.#search.val('');
        }
        filtered();
      });
    this.#more
      .attr({ type: 'button', 'aria-label': say('more'), 'aria-expanded': 'false' })
      .append('<i class="fa fa-sliders" aria-hidden="true"></i>')
      .on('click', () => this.#unfold());
    this.#showFilters();
    this.element = this.#layOut()[0]!;
    this.updateServices();
  }

  #layOut(): JQuery {
    const check = (input: JQuery, key: string) =>
      element('label', 'mt-gateway-side-check').append(input, element('span', '', say(key)));
    const needs = check(this.#needs, 'needs');
    const everything = check(this.#everything, 'everything').attr('title', say('everythingMeans'));
    const order = element('div', 'mt-gateway-side-order').append(this.#sort, this.#direction);
    return element('div', 'mt-gateway-side-controls').append(
      ...[this.#service, this.#search, this.#more, order, this.#near, needs, everything],
    );
  }

  /** Where there is little room, all but the search is folded away. */
  #unfold(): void {
    const isOpen = this.#more.attr('aria-expanded') !== 'true';
    this.#more.attr('aria-expanded', String(isOpen));
    $(this.element).toggleClass('mt-gateway-side-unfolded', isOpen);
  }

  /** What is folded away goes on: its button says so. */
  #showFilters(): void {
    const { needs, near } = this.filters;
    const active = [near && say('near.mode'), needs && say('needs'), this.everything && say('everything')];
    this.#more
      .attr('title', [say('more'), ...active].filter(Boolean).join(' · '))
      .toggleClass('mt-gateway-side-filtered', active.some(Boolean));
  }

  #setSign(sign: string): void {
    this.#sign = sign;
    const label = say(sign === '' ? 'upwards' : 'downwards');
    this.#direction
      .attr({ title: label, 'aria-label': label })
      .html(`<i class="fa fa-sort-amount-${sign === '' ? 'asc' : 'desc'}" aria-hidden="true"></i>`);
  }

  /** Empty where there is none. */
  get service(): string {
    return String(this.#service.val() ?? '');
  }

  /** @returns false: there is no such service */
  choose(service: string): boolean {
    this.updateServices();
    const before = this.service;
    this.#service.val(service);
    if (this.service !== service) {
      this.#service.val(before);
      return false;
    }
    this.#showWhole();
    return true;
  }

  get filters(): Filters {
    return {
      q: String(this.#search.val() ?? '').trim(),
      sort: `${this.#sign}${this.#sort.val()}`,
      needs: this.#needs.prop('checked') === true ? 1 : 0,
      near: this.isNear ? 1 : 0,
    };
  }

  /** Its rows change their places by what is heard. */
  get isMoving(): boolean {
    const { sort, needs, near } = this.filters;
    return near === 1 || needs === 1 || !sort.endsWith('name');
  }

  /** Somebody is in the search. */
  get isSearching(): boolean {
    return this.#search.is(':focus');
  }

  /** The device in the hand is looked for. */
  get isNear(): boolean {
    return this.#near.attr('aria-pressed') === 'true';
  }

  /** The broker is to send all reports, not only those that flows want. */
  get everything(): boolean {
    return this.#everything.prop('checked') === true;
  }

  /** Offers the services that there are now; with one there is nothing to choose. */
  updateServices(): void {
    const services = listServices();
    const all = JSON.stringify(services);
    if (all === this.#services) {
      return;
    }
    this.#services = all;
    const chosen = this.service;
    this.#service.empty();
    for (const { id, label } of services) {
      $('<option>').val(id).text(label).appendTo(this.#service);
    }
    this.#service.val(services.some(({ id }) => id === chosen) ? chosen : firstService());
    this.#showWhole();
    this.#service.toggle(services.length > 1);
  }

  /** A long name is cut in the list that is closed. */
  #showWhole(): void {
    this.#service.attr('title', this.#service.find(':selected').text());
  }
}
