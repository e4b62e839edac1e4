// A credential whose creation got no answer. It may exist, but nobody has its secret, and a retry creates another one.

interface Item {
  id: string;
  label: string;
  /** When it was last used; null or absent if never. */
  used: string | null | undefined;
}

export class Unheard {
  #one: { label: string; before: readonly string[] } | null = null;

  get isEmpty(): boolean {
    return this.#one === null;
  }

  /** `before` has the IDs of all credentials that existed; null if the list is incomplete. Only the first one counts. */
  note(label: string, before: readonly string[] | null): void {
    if (before) this.#one ??= { label, before: [...before] };
  }

  /** The IDs of those that the request may have created: new, with its label, and never used. */
  lostIn(items: readonly Item[]): string[] {
    const one = this.#one;
    if (!one) return [];
    return items
      .filter(({ id, label, used }) => label === one.label && used == null && !one.before.includes(id))
      .map(({ id }) => id);
  }

  forget(): void {
    this.#one = null;
  }
}
