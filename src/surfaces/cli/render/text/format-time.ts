/** Local time of the day, with the date where it is another day than now. */
export function formatTime(at: number, now: number): string {
  const time = new Date(at);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(":");
  return time.toDateString() === new Date(now).toDateString() ? clock : `${formatDate(time)} ${clock}`;
}

function formatDate(time: Date): string {
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
