// Questions that any part may ask and the shell shows: a confirmation that the person is there, and the vault's unlocking.

interface Asked {
  resolve: (done: boolean) => void;
}

export const asked = $state<{ confirmation: Asked | null; unlock: Asked | null }>({ confirmation: null, unlock: null });

function ask(what: 'confirmation' | 'unlock'): Promise<boolean> {
  const before = asked[what];
  return new Promise((resolve) => {
    // Two calls that want the same wait for one answer.
    asked[what] = {
      resolve: (done) => {
        before?.resolve(done);
        resolve(done);
      },
    };
  });
}

/** Lets the person confirm by password or passkey; whether they did. */
export const askConfirmation = (): Promise<boolean> => ask('confirmation');

/** Lets the person unlock the vault; whether it is open now. */
export const askUnlock = (): Promise<boolean> => ask('unlock');

/** The shell's answer. */
export function answer(what: 'confirmation' | 'unlock', done: boolean): void {
  const waiting = asked[what];
  asked[what] = null;
  waiting?.resolve(done);
}
