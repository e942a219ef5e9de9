// What the broker has said to topic filters, for the choice of those that it is asked for.

export interface FilterVerdicts {
  /** Whether a filter must not take the place of narrower ones: then these stay, however many. */
  isAvoided(filter: string): boolean;
  /** Whether the broker refuses it: what it covers is asked for itself. */
  isRefused(filter: string): boolean;
  isGranted(filter: string): boolean;
}
