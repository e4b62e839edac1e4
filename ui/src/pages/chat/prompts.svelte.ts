// The user's own prompts. They are kept in this browser until the logout, which removes what a user wrote.

export interface SavedPrompt {
  name: string;
  text: string;
}

const KEY = 'prompts';

const isPrompt = (value: unknown): value is SavedPrompt => {
  const { name, text } = (value ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && typeof text === 'string';
};

function stored(): SavedPrompt[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter(isPrompt) : [];
  } catch {
    // The storage is disabled, or another program wrote to it.
    return [];
  }
}

class Prompts {
  all = $state.raw<readonly SavedPrompt[]>(stored());

  /** Saves a prompt in place of one with the same name. Returns whether the browser stored it. */
  save(prompt: SavedPrompt): boolean {
    const others = this.all.filter(({ name }) => name !== prompt.name);
    return this.#keep([...others, prompt].sort((a, b) => a.name.localeCompare(b.name)));
  }

  remove(name: string): void {
    this.#keep(this.all.filter((one) => one.name !== name));
  }

  #keep(all: SavedPrompt[]): boolean {
    this.all = all;
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
      return true;
    } catch {
      return false;
    }
  }
}

export const prompts = new Prompts();

// Another window changed them. Saving the older list would remove what that window saved.
addEventListener('storage', ({ key }) => {
  if (key === KEY) prompts.all = stored();
});
