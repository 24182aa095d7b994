export function greet(name) {
  document.body.innerHTML = `Hello ${name}`;
}
