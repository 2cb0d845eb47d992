// Fills in the form that signs up, for the address of an invitation: /docs#invitation?code=…&email=….
const [name, query] = location.hash.split('?')

if (name === '#invitation') {
  const invitation = new URLSearchParams(query)
  const member = {
    email: invitation.get('email'),
    name: '',
    password: '',
    authenticationCode: invitation.get('code'),
  }
  const section = document.getElementById('signUp')
  section.querySelector('textarea').value = JSON.stringify(member, null, 2)
  section.querySelector('.try').open = true
  section.scrollIntoView()
}
