import { QueryObserver } from '@tanstack/svelte-query';
import { expect, test, vi } from 'vitest';
import { Queries } from './queries';

test('a change during the first answer repeats the query', async () => {
  const queries = new Queries();
  const answers = ['before the change', 'after it'];
  let answer = () => {};
  const queryFn = vi.fn(() => new Promise<string | undefined>((resolve) => (answer = () => resolve(answers.shift()))));
  const observer = new QueryObserver(queries, { queryKey: ['approvals'], queryFn });
  const end = observer.subscribe(() => {});
  const repeated = queries.invalidateQueries({ queryKey: ['approvals'] });
  answer();
  await vi.waitFor(() => expect(queryFn).toHaveBeenCalledTimes(2));
  answer();
  await repeated;
  expect(queries.getQueryData(['approvals'])).toBe('after it');
  end();
});
