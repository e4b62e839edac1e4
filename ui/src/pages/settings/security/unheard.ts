// A credential whose creation got no answer. It may exist, but its secret is lost, and a retry creates another
// credential.

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

  /**
   * Records the attempt. `before` contains the IDs of all existing credentials, or null if the list is incomplete. Only
   * the first attempt is recorded.
   */
  note(label: string, before: readonly string[] | null): void {
    if (before) this.#one ??= { label, before: [...before] };
  }

  /**
   * Returns the IDs of credentials that the request may have created: they are new, have its label,
   * and were never used.
   */
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
