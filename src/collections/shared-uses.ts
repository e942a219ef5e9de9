// What many want alike: begun for the first of them, ended with the last.

/** @param comesBack it is begun again soon, such as by the deploy that ends it */
export type EndUse = (comesBack?: boolean) => void;

interface Shared {
  users: number;
  end: EndUse;
  /** One of those that have ended their use comes back. */
  comesBack: boolean;
}

export class SharedUses {
  readonly #shared = new Map<string, Shared>();

  /** @returns ends this use; to be called once */
  use(key: string, begin: () => EndUse): EndUse {
    const shared = this.#shared.get(key) ?? { users: 0, end: begin(), comesBack: false };
    this.#shared.set(key, shared);
    shared.users++;
    return (comesBack = false) => {
      shared.users--;
      shared.comesBack ||= comesBack;
      if (shared.users === 0) {
        this.#shared.delete(key);
        shared.end(shared.comesBack);
      }
    };
  }
}
