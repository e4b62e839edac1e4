// Sends the form of a webhook. Several controls share one of its field names, and the field name of a condition
// contains its position. The error of a refusal is therefore shown at a field only if the form shows it there.
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
