// The list of logins, which three cards of this page read.
import { createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';

export const createLogins = () =>
  createQuery(() => ({ queryKey: keys.logins, queryFn: () => http('get', '/api/auth/sessions') }));
