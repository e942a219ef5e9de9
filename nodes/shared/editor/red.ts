// The few parts of the editor's global RED that the panels use, and the shape of a node definition.

/** A node as the editor holds it: its saved properties beside a few of the editor's own. */
export interface EditorNode {
  id: string;
  type: string;
  changed?: boolean;
  users?: EditorNode[];
  _def: { defaults: Record<string, Property>; credentials?: Record<string, unknown> };
  _(key: string, values?: Record<string, unknown>): string;
  [property: string]: unknown;
}

/**
 * One row of `defaults`; a validator answers true or says in words what is wrong. Node-RED takes words only from one that is
 * declared with both parameters: from any other a text is as good as true.
 */
export interface Property<T = unknown> {
  value: T | '';
  type?: string;
  required?: boolean;
  validate?(this: EditorNode, value: unknown, options: unknown): boolean | string;
}

/** Ties the literal in registerType to the saved shape: every key, none too many, each with a fitting value. */
export type Defaults<Config> = {
  [Key in Exclude<keyof Config, 'service'>]-?: Property<Config[Key]>;
} & (Config extends { service: string } ? { service: Property<string> } : unknown);

interface EditorTabs {
  addTab(tab: { id: string; label: string }): void;
  activateTab(id: string): void;
}

interface SidebarTab {
  id: string;
  label: string;
  name: string;
  iconClass: string;
  content: HTMLElement;
  /** It can be used while a panel is open. */
  enableOnEdit: boolean;
}

interface EditorRed {
  _(key: string, values?: Record<string, unknown>): string;
  /** The language of the editor's texts, once its settings are loaded. The document's may be another. */
  i18n: { lang(): string };
  nodes: {
    registerType(type: string, definition: object): void;
    node(id: string): EditorNode | null;
    id(): string;
    dirty(isDirty: boolean): void;
    eachConfig(visit: (node: EditorNode) => void): void;
    filterNodes(filter: { type?: string; z?: string }): EditorNode[];
    filterLinks(filter: { source: EditorNode; sourcePort?: number }): { target: EditorNode }[];
    getType(type: string): unknown;
    /** A tab; undefined where the id is that of a subflow. */
    workspace(id: string): { label?: string; disabled?: boolean } | undefined;
    /** The template of a subflow. */
    subflow(id: string): { name?: string; env?: { name: string; value: unknown }[] } | undefined;
  };
  workspaces: { active(): string; isLocked?(): boolean };
  clipboard: { copyText(value: string, element?: JQuery): boolean };
  view: {
    redraw(): void;
    scale(): number;
    /** Brings a node into sight, on its tab. */
    reveal(id: string): void;
    importNodes(nodes: readonly object[], options: object): void;
    selection(): { nodes?: EditorNode[] };
  };
  sidebar: {
    addTab(tab: SidebarTab): void;
    removeTab(id: string): void;
    show(id: string): void;
  };
  events: {
    on(event: string, listener: (value: unknown) => void): void;
    off(event: string, listener: (value: unknown) => void): void;
    emit(event: string, value: unknown): void;
  };
  comms: {
    /** A message of the runtime. */
    subscribe(topic: string, received: (topic: string, data: unknown) => void): void;
    unsubscribe(topic: string, received: (topic: string, data: unknown) => void): void;
    /** `connect`: the connection to the runtime is there, or is there again. */
    on?(event: 'connect', listener: () => void): void;
    off?(event: 'connect', listener: () => void): void;
    /** Does nothing without a connection. */
    send?(topic: string, data: unknown): void;
  };
  tabs: { create(options: { id: string; onchange(tab: { id: string }): void }): EditorTabs };
  settings: {
    context?: { stores?: string[] };
    /** Context stores that keep nothing over a restart. */
    mtServiceForgetful?: string[];
    /** Kept by this browser. */
    getLocal(key: string): string | null;
    setLocal(key: string, value: string): void;
  };
  user: { hasPermission(permission: string): boolean };
  /** A text is taken as HTML. */
  notify(content: string | JQuery, options?: object | string): { close(): void };
  utils: {
    validateTypedProperty(value: unknown, type: string, options: object): boolean | string;
    getNodeLabel(node: EditorNode, otherwise: string): string;
  };
}

declare global {
  const RED: EditorRed;
}
