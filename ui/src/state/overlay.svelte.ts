// The overlay opened by keyboard, which is the palette or the list of shortcuts.

export const overlay = $state<{ open: 'palette' | 'shortcuts' | null }>({ open: null });

const KEY = 'gatehouse.shortcuts';

/**
 * Whether single keys, such as `j`, are shortcuts. Speech input types letters, so the user can turn the shortcuts off.
 */
export const shortcuts = $state({ on: stored() });

export function useShortcuts(on: boolean): void {
  shortcuts.on = on;
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, 'off');
  } catch {
    // Storage may be disabled. The choice then lasts until the page is closed.
  }
}

function stored(): boolean {
  try {
    return localStorage.getItem(KEY) !== 'off';
  } catch {
    return true;
  }
}

/** Name of the key that opens the palette together with K. */
export const commandKey = (): string => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl');
