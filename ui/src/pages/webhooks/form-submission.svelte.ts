// Sends the form of a webhook. Its fields have no names: some belong to several controls, and a condition's field
// contains its position. So a refusal is at its field if the form shows an error after it.
import { isFailure } from '../../client/failure';
import { sentence, Submission } from '../../parts/submission.svelte';
import { placedErrors } from './conditions';

export class FormSubmission extends Submission {
  override async refuse(error: unknown, form?: HTMLFormElement): Promise<void> {
    if (form && isFailure(error, 'INVALID_PARAMS') && error.details.field) {
      const placed = placedErrors({ [error.details.field]: error.details.reason ?? error.message });
      const refused = Object.entries(placed).map(([field, reason]) => [field, sentence(reason)]);
      await this.show(Object.fromEntries(refused), form);
      if (form.querySelector('[aria-invalid], [role="alert"]')) return;
      this.reset();
    }
    await super.refuse(error);
  }
}
