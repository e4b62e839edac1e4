// Filters that the user saved under a name, as queries of the address. They are kept in this browser until the logout.

export interface View {
  name: string;
  query: string;
}

const KEY = 'delivery filters';
/** The parts of the address that are filters. */
const PARTS = ['webhook', 'status', 'event', 'q', 'restored', 'time', 'from', 'until'];

/** The filters in a query of the address, always in the same order. */
export function viewOf(query: string): string {
  const all = new URLSearchParams(query);
  const kept = PARTS.flatMap((name) => {
    const value = all.get(name);
    return value ? [[name, value]] : [];
  });
  return new URLSearchParams(kept).toString();
}

const isView = (value: unknown): value is View => {
  const { name, query } = (value ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && typeof query === 'string';
};

function stored(): View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter(isView) : [];
  } catch {
    // The storage is disabled, or another program wrote to it.
    return [];
  }
}

class Views {
  all = $state.raw<readonly View[]>(stored());

  /** Saves filters in place of those with the same name. */
  save(view: View): void {
    this.#keep([...this.all.filter(({ name }) => name !== view.name), view]);
  }

  remove(name: string): void {
    this.#keep(this.all.filter((one) => one.name !== name));
  }

  #keep(all: View[]): void {
    this.all = all;
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
    } catch {
      // The storage is disabled or full. The views last as long as the page.
    }
  }
}

export const views = new Views();

// Another window changed them. Saving the older list would remove what that window saved.
addEventListener('storage', ({ key }) => {
  if (key === KEY) views.all = stored();
});
