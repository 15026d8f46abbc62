document.addEventListener('click',function(event){
 var bar=event.target.closest&&event.target.closest('.flame g');if(!bar)return;
 var svg=bar.closest('svg'),whole=1200,bars=svg.querySelectorAll('g');
 bars.forEach(function(g){var r=g.querySelector('rect');if(!g.dataset.x){g.dataset.x=r.getAttribute('x');g.dataset.w=r.getAttribute('width');}});
 var from=+bar.dataset.x,width=+bar.dataset.w,depth=+bar.dataset.d;
 bars.forEach(function(g){
  var x=+g.dataset.x,w=+g.dataset.w,r=g.querySelector('rect'),t=g.querySelector('text'),d=+g.dataset.d;
  var over=d<=depth&&x<=from+.01&&x+w>=from+width-.01,inside=d>depth&&x>=from-.01&&x+w<=from+width+.01;
  g.style.display=over||inside?'':'none';if(!(over||inside))return;
  var left=over?0:(x-from)/width*whole,wide=over?whole:w/width*whole,letters=Math.floor((wide-6)/6.4);
  r.setAttribute('x',left);r.setAttribute('width',wide);t.setAttribute('x',left+3);
  t.textContent=letters<3?'':g.dataset.n.slice(0,letters);r.style.opacity=d<depth?.5:1;
 });
});
