// Something a step does or loads: whether it is under way, and what went wrong.
import { isFailure } from '../../client/failure';

export class Attempt {
  busy = $state(false);
  error = $state<unknown>(null);

  /** Does it, unless it is under way already. Whether it went well. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = null;
    try {
      await work();
      return true;
    } catch (error) {
      if (!isFailure(error)) throw error;
      this.error = error;
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** What is wrong with a field, in the gateway's words. */
  field(name: string): string | null {
    const { error } = this;
    return isFailure(error, 'INVALID_PARAMS') && error.details.field === name
      ? (error.details.reason ?? error.message)
      : null;
  }
}
