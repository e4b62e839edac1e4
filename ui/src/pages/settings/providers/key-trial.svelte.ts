// Stores the key of a model provider after a test. A wrong key therefore does not replace a working one.
import { isFailure } from '../../../client/failure';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';

export class KeyTrial {
  /** The key that failed its last test, and was not stored. */
  #failed = $state<string | null>(null);

  /** Returns whether the user can store this key although its test failed. */
  offers(key: string): boolean {
    return this.#failed !== null && this.#failed === key;
  }

  reset(): void {
    this.#failed = null;
  }

  /** Tests a key and stores it. If the test fails, throws and stores nothing. */
  async store(id: string, key: string, isShown: () => boolean): Promise<void> {
    try {
      await rpc('providers.test', { id, key });
    } catch (error) {
      // Other errors are not caused by the key, or they prevent storing it too.
      if (!isFailure(error, 'PROVIDER_FAILED', 'TIMEOUT')) throw error;
      if (isShown()) this.#failed = key;
      error.message = `${error.message} ${m.providers_key_unsaved()}`;
      throw error;
    }
    await this.keep(id, key);
  }

  /** Stores a key without a test. */
  async keep(id: string, key: string): Promise<void> {
    await rpc('providers.set_key', { id, key });
    this.#failed = null;
  }
}
